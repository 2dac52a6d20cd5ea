import pytest

from tests.operation.image import Image


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The platform prepared as in its Docker image. Its tests share an xdist group, so it is built once."""
    image = Image(tmp_path_factory.mktemp("image"))
    assert "static files copied" in image.prepare()
    return image
