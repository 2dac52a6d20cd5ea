"""Drawing: one style, one way to render a picture and to answer a request with it."""
