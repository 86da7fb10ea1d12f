# docker build -f emulator.Dockerfile -t paylink-emulator . && docker run -p 127.0.0.1:4010:4010 paylink-emulator
FROM node:22-alpine
ARG VERSION=latest
WORKDIR /emulator
RUN npm install --no-audit --no-fund --ignore-scripts "@paylink/cli@${VERSION}"
USER node
EXPOSE 4010
HEALTHCHECK --interval=5s CMD ["node", "-e", "fetch('http://127.0.0.1:4010/dashboard').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Only your machine can reach the port, because docker run publishes it on 127.0.0.1.
ENTRYPOINT ["npx", "--no-install", "paylink", "emulate", "--host", "0.0.0.0", "--port", "4010", "--allow-remote", "--pay-url", "http://localhost:4010"]
# Your shop on the host. Replace both to reach a shop in another container.
CMD ["--webhook", "http://host.docker.internal:3000/webhooks/payments", "--allow-host", "host.docker.internal"]
