import pytest

from tests.operation.image import Image


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The platform made ready as in its image. Tests with it are of one group: it is made once."""
    image = Image(tmp_path_factory.mktemp("image"))
    assert "static files copied" in image.prepare()
    return image
