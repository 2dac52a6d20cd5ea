# One image for the pages, the Celery workers and the schedule; only their command differs.
#
#   docker build -t da-platform .
#
# Every package is pinned by its hash in requirements.txt. For byte-identical builds, pin the base image by its digest
# too: PYTHON_IMAGE=python:3.11-slim-bookworm@sha256:...
ARG PYTHON_IMAGE=python:3.11-slim-bookworm

FROM ${PYTHON_IMAGE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONDONTWRITEBYTECODE=1
# Without pip, since nothing is installed at run time.
RUN python -m venv --without-pip /opt/venv
COPY requirements.txt .
# Wheels only: nothing is compiled, and no package code runs during installation. Their tests are removed.
RUN python -m pip --python /opt/venv/bin/python install --require-hashes --only-binary=:all: -r requirements.txt \
    && find /opt/venv -type d -name tests -prune -exec rm -r {} +
COPY . /app
WORKDIR /app
# A key is needed to load the settings. This one is used for nothing else.
RUN DA_SECRET_KEY="$(python -c 'import secrets; print(secrets.token_urlsafe(64))')" \
        DA_ALLOWED_HOSTS=localhost DA_DATA_DIR=/tmp/build \
        /opt/venv/bin/python manage.py collectstatic --noinput \
    && /opt/venv/bin/python -m compileall -q hits analysis da_platform \
    # In case the checkout was made with a strict umask.
    && chmod -R a+rX /app

FROM ${PYTHON_IMAGE}
# pg_dump and pg_restore for backups; they must not be older than the server.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 da && useradd --uid 10001 --gid da --home-dir /app --no-create-home da \
    && install -d -o da -g da -m 0700 /data /backups
COPY --from=build /opt/venv /opt/venv
COPY --from=build /app /app
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    DA_DATA_DIR=/data DA_BACKUP_DIR=/backups DA_ENV_FILE=/dev/null DA_LOG_FORMAT=JSON \
    MPLCONFIGDIR=/data/matplotlib
WORKDIR /app
USER da
VOLUME /data /backups
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=3s --start-period=20s \
    CMD ["python", "-m", "da_platform.probe", "http://127.0.0.1:8000/healthz"]
CMD ["gunicorn", "--bind", "0.0.0.0:8000"]
