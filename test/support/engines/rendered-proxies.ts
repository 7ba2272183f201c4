// The servers nginx and Caddy, with the configurations that are rendered from a routing table.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { renderCaddy } from '../../../daemon/shared/routing/render/caddy.ts'
import { renderNginx } from '../../../daemon/shared/routing/render/nginx.ts'
import type { ProxyRoutes } from '../../../daemon/shared/routing/render/render-proxy.ts'
import { createEngineFolder, findFreePorts, isListening, serverProcess } from './server-process.ts'

export type RenderedProxy = { readonly name: string; readonly port: number; end(): Promise<void> }

type RenderedProxyProgram = {
  readonly name: string
  readonly config: (folder: string, routes: ProxyRoutes) => string
  readonly args: (file: string, folder: string) => readonly string[]
}

const nginx: RenderedProxyProgram = {
  name: 'nginx',
  args: (file, folder) => ['-c', file, '-p', folder, '-e', `${folder}/error.log`],
  config: (folder, routes) => `daemon off; user root; worker_processes 1; pid ${folder}/nginx.pid;
events { worker_connections 512; }
http {
access_log off;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
${requireText(renderNginx(routes))}
}
`,
}

const caddy: RenderedProxyProgram = {
  name: 'caddy',
  args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  config: (_, routes) => `{\n    admin off\n}\n${requireText(renderCaddy(routes))}`,
}

function requireText(rendered: ReturnType<typeof renderNginx>): string {
  if (isRefusal(rendered)) throw rendered
  return rendered
}

/** Both, each on a port of its own. */
export async function startRenderedProxies(routes: Omit<ProxyRoutes, 'address'>): Promise<readonly RenderedProxy[]> {
  const ports = await findFreePorts(2)
  const starts = await Promise.allSettled(
    [nginx, caddy].map((program, at) => startProxy(program, routes, ports[at] ?? 0)),
  )
  const failed = starts.find((start) => start.status === 'rejected')
  const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
  if (!failed) return started
  for (const proxy of started) await proxy.end()
  throw failed.reason
}

async function startProxy(
  { name, config, args }: RenderedProxyProgram,
  routes: Omit<ProxyRoutes, 'address'>,
  port: number,
): Promise<RenderedProxy> {
  const { folder, dispose } = createEngineFolder(name)
  const file = path.join(folder, 'config')
  writeFileSync(file, config(folder, { ...routes, address: `127.0.0.1:${port}` }))
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const program = { command: name, args: args(file, folder), cwd: folder, env }
  const server = serverProcess(
    { name, program, log: path.join(folder, 'log'), pid_file: path.join(folder, 'group.pid') },
    () => isListening(port),
  )
  const end = async () => {
    await server.kill()
    dispose()
  }
  await server.start().catch(async (error: unknown) => {
    await end()
    throw error
  })
  return { name, port, end }
}
