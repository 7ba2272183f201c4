// Edge and gateway as they are shipped, before services of a benchmark: each site is one process.
import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import path from 'node:path'
import { benchCores, type PinnedProgram, startPinnedProgram } from './pinned-program.ts'

const executable = process.env.PLATFORM_EXECUTABLE ?? path.resolve(import.meta.dirname, '../../../dist/platform')

export type PlatformFront = {
  readonly program: PinnedProgram
  /** Of a caller that the site knows. */
  readonly token: string
  mintToken(subject: string, role: string): string
  /** The table of the site for nginx that listens on this port. */
  renderNginx(port: number): string
}

type FrontPorts = {
  readonly port: number
  readonly upstream: number
  readonly streams: number
  readonly metrics_port?: number
}

/** `upstream`: port of the owner of every path but those of intelligence, which `streams` owns. */
export async function startPlatformFront(
  folder: string,
  role: 'edge' | 'gateway',
  { port, upstream, streams, metrics_port = 0 }: FrontPorts,
): Promise<PlatformFront> {
  const site = path.join(folder, `front-${role}`)
  const run = (...words: string[]) => execFileSync(executable, [...words, '--site', site], { encoding: 'utf8' })
  run('init', '--name', 'front', '--tenant', 'bench', '--roles', `site,${role}`, '--yes')
  const ingress = { rest_gateway: { enabled: role === 'gateway' }, backends: listBackends(upstream, streams) }
  appendFileSync(path.join(site, 'profile.yaml'), `\ningress: ${JSON.stringify(ingress)}\n`)
  const name = role.toUpperCase()
  const env = {
    ...{ [`${name}_PORT`]: String(port), [`${name}_METRICS_LISTEN`]: `127.0.0.1:${metrics_port}` },
    ...{ EDGE_HTTP_PORT: '0', SITE_PORT: '0', SITE_METRICS_LISTEN: '127.0.0.1:0' },
  }
  const serve = [executable, 'serve', '--site', site]
  const mintToken = (subject: string, role: string) =>
    run('token', 'mint', '--subject', subject, '--roles', role).trim()
  return {
    program: await startPinnedProgram(benchCores.measured, serve, port, env, '"platform.ready"'),
    token: mintToken('ann', 'analyst'),
    mintToken,
    renderNginx: (listen) => run('routes', '--format', 'nginx', '--listen', `127.0.0.1:${listen}`),
  }
}

function listBackends(upstream: number, streams: number): Readonly<Record<string, readonly string[]>> {
  const url = (port: number) => `http://127.0.0.1:${port}`
  return {
    'resolution-service': [url(upstream)],
    'consensus-service': [url(upstream)],
    'intelligence-service': [url(streams)],
  }
}
