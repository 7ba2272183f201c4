// Proxies that others use, nginx and HAProxy, before an upstream of a test: the rules of the corpus in their words, as strict as they can be.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { isOnPath } from '../runner/requires.ts'
import { createEngineFolder, findFreePorts, isListening, type ServerProcess, serverProcess } from './server-process.ts'

export const peerProxiesRequirement = {
  isPresent: isOnPath('nginx') && isOnPath('haproxy'),
  name: 'nginx and haproxy',
  hint: 'not found on PATH',
}

export type PeerProxy = ServerProcess & {
  readonly name: string
  readonly port: number
  /** Kills it and removes its folder. */
  end(): Promise<void>
}

type PeerProxyProgram = {
  readonly name: string
  readonly config: (folder: string, port: number, upstream: number) => string
  readonly args: (file: string, folder: string) => readonly string[]
}

/** Far longer than anything that is whole takes, on any machine. */
const proxy_timeout_s = 20

const nginx: PeerProxyProgram = {
  name: 'nginx',
  args: (file, folder) => ['-c', file, '-p', folder, '-e', `${folder}/error.log`],
  config: (folder, port, upstream) => `daemon off; user root; worker_processes 1; pid ${folder}/nginx.pid;
events { worker_connections 512; }
http {
  access_log off; merge_slashes on; client_max_body_size 64k; large_client_header_buffers 4 16k; underscores_in_headers off;
  client_header_timeout ${proxy_timeout_s}s; client_body_timeout ${proxy_timeout_s}s; keepalive_timeout 1s;
  ${temporaryFolders(folder)}
  server {
    listen 127.0.0.1:${port};
    location = /public-api/api/v1/report { limit_except GET { deny all; } ${nginxForwarding(upstream)} }
    location ~ ^/public-api/api/v1/report/[^/]+$ { limit_except GET { deny all; } ${nginxForwarding(upstream)} }
    location = /public-api/api/v1/feedback { limit_except POST { deny all; } ${nginxForwarding(upstream)} }
    location / { return 404; }
  }
}
`,
}

/** Forwards everything as it arrives, as the data plane does for roles with authenticated callers. `pem_file`: over TLS, with HTTP/2. */
const nginxForwarder = (pem_file?: string): PeerProxyProgram => ({
  ...nginx,
  config: (folder, port, upstream) => `daemon off; user root; worker_processes 1; pid ${folder}/nginx.pid;
events { worker_connections 512; }
http {
  access_log off; client_max_body_size 1m; keepalive_timeout 5s;
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  ${temporaryFolders(folder)}
  server {
    ${pem_file ? `listen 127.0.0.1:${port} ssl http2; ssl_certificate ${pem_file}; ssl_certificate_key ${pem_file};` : `listen 127.0.0.1:${port};`}
    location / {
      proxy_pass http://127.0.0.1:${upstream}; proxy_http_version 1.1; proxy_buffering off; proxy_request_buffering off;
      proxy_set_header Host upstream; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;
    }
  }
}
`,
})

/** Members as the pool of the data plane has them: three failures in a row eject one. */
const nginxPool = (ports: readonly number[]): PeerProxyProgram => ({
  ...nginx,
  config: (folder, port) => `daemon off; user root; worker_processes 1; pid ${folder}/nginx.pid;
events { worker_connections 512; }
http {
  access_log off;
  ${temporaryFolders(folder)}
  upstream pool { ${ports.map((member) => `server 127.0.0.1:${member} max_fails=3 fail_timeout=60s;`).join(' ')} }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://pool; proxy_http_version 1.1; proxy_set_header Connection ''; }
  }
}
`,
})

const temporaryFolders = (folder: string) =>
  ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')

const nginxForwarding = (upstream: number) =>
  `rewrite ^/public-api(/.*)$ $1 break; proxy_pass http://127.0.0.1:${upstream}; proxy_http_version 1.1;`

const haproxy: PeerProxyProgram = {
  name: 'haproxy',
  args: (file) => ['-db', '-f', file],
  config: (_, port, upstream) => `global
  nbthread 1
  expose-experimental-directives
defaults
  mode http
  timeout connect 5s
  timeout client ${proxy_timeout_s}s
  timeout server ${proxy_timeout_s}s
  timeout http-request ${proxy_timeout_s}s
  timeout http-keep-alive 1s
frontend door
  bind 127.0.0.1:${port}
  http-request normalize-uri percent-to-uppercase
  http-request normalize-uri percent-decode-unreserved
  http-request normalize-uri path-merge-slashes
  http-request normalize-uri path-strip-dot
  http-request normalize-uri path-strip-dotdot full
  acl report path -m reg ^/public-api/api/v1/report(/[^/]+)?$
  acl feedback path -m str /public-api/api/v1/feedback
  http-request deny deny_status 404 unless METH_GET report or METH_POST feedback
  http-request replace-path /public-api(/.*) \\1
  default_backend service
backend service
  server one 127.0.0.1:${upstream}
`,
}

/** Not started yet. */
async function createPeerProxy({ name, config, args }: PeerProxyProgram, upstream: number): Promise<PeerProxy> {
  const { folder, dispose } = createEngineFolder(name)
  const [port = 0] = await findFreePorts(1)
  const file = path.join(folder, `${name}.conf`)
  writeFileSync(file, config(folder, port, upstream))
  const program = { command: name, args: args(file, folder), cwd: folder }
  const server = serverProcess(
    { name, program, log: path.join(folder, 'log'), pid_file: path.join(folder, 'group.pid') },
    () => isListening(port),
  )
  return {
    ...server,
    name,
    port,
    async end() {
      await server.kill()
      dispose()
    },
  }
}

export const nginxPeer = (upstream: number) => createPeerProxy(nginx, upstream)
export const nginxForwarderPeer = (upstream: number, pem_file?: string) =>
  createPeerProxy(nginxForwarder(pem_file), upstream)
export const nginxPoolPeer = (ports: readonly number[]) => createPeerProxy(nginxPool(ports), 0)
export const haproxyPeer = (upstream: number) => createPeerProxy(haproxy, upstream)
