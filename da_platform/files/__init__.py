"""Reading uploaded files, with problems listed by file and line, and writing exports."""
