// A real Redis of a test's own: with a password, and TLS where it has certificates.
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { connect as connectTls } from 'node:tls'
import { isOnPath } from '../runner/requires.ts'
import type { ServerCertificateFiles } from './server-certificates.ts'
import { createEngineFolder, findFreePorts, type ServerProcess, serverProcess } from './server-process.ts'

export const redisRequirement = { isPresent: isOnPath('redis-server'), name: 'redis-server', hint: 'not found on PATH' }

export type Redis = ServerProcess & {
  readonly port: number
  readonly password: string
  readonly folder: string
  /** Kills it and removes its folder. */
  end(): Promise<void>
}

/** Not started yet. A write is on disk before its answer, so that a kill loses nothing. */
export async function redis(tls?: ServerCertificateFiles): Promise<Redis> {
  const { folder, dispose } = createEngineFolder('redis')
  const [port = 0] = await findFreePorts(1)
  const password = randomBytes(12).toString('hex')
  const lines = [
    'bind 127.0.0.1',
    `dir ${folder}`,
    'save ""',
    'appendonly yes',
    'appendfsync always',
    `requirepass ${password}`,
    'maxmemory 64mb',
    'maxmemory-policy noeviction',
    ...(tls
      ? ['port 0', `tls-port ${port}`, `tls-cert-file ${tls.cert}`, `tls-key-file ${tls.key}`]
      : [`port ${port}`]),
    ...(tls ? [`tls-ca-cert-file ${tls.ca}`, 'tls-auth-clients no'] : []),
  ]
  const config = path.join(folder, 'redis.conf')
  writeFileSync(config, `${lines.join('\n')}\n`, { mode: 0o600 })
  const program = { command: 'redis-server', args: [config], cwd: folder }
  const isReady = () => isAnsweringPing(port, password, tls !== undefined)
  const server = serverProcess(
    { name: 'redis', program, log: path.join(folder, 'log'), pid_file: path.join(folder, 'pid') },
    isReady,
  )
  return {
    ...server,
    port,
    password,
    folder,
    async end() {
      await server.kill()
      dispose()
    },
  }
}

/** By the protocol itself, so that no client that is under test says whether the server is there. */
function isAnsweringPing(port: number, password: string, isTls: boolean): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = isTls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connect(port, '127.0.0.1')
    let answer = ''
    socket.setTimeout(1_000, () => socket.destroy(new Error('no answer')))
    socket.once('error', reject)
    socket.on('data', (bytes) => {
      answer += bytes.toString()
      if (!/PONG|-/.test(answer)) return
      socket.destroy()
      resolve(answer.includes('PONG'))
    })
    socket.write(`AUTH ${password}\r\nPING\r\n`)
  })
}
