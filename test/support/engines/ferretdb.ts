// A real FerretDB of a test's own, which speaks the protocol of MongoDB over SQLite: users with passwords, and TLS beside plain connections.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { MongoClient } from 'mongodb'
import { forwardPort } from './forward-port.ts'
import type { ServerCertificateFiles } from './server-certificates.ts'
import { createEngineFolder, findFreePorts, isListening, type ServerProcess, serverProcess } from './server-process.ts'

const command = process.env.FERRETDB ?? ''
export const ferretdbRequirement = {
  isPresent: existsSync(command),
  name: 'ferretdb',
  hint: 'FERRETDB names the program; .ci/run builds it',
}

export type Ferretdb = ServerProcess & {
  /** By TLS, at 127.0.0.1, and at 127.0.0.3 behind a proxy. */
  readonly port: number
  readonly plain_port: number
  readonly password: string
  /** May do everything, and has the password. Known to the database `admin`. */
  readonly username: string
  /** A client of the owner, which the test closes. */
  connect(): Promise<MongoClient>
  /** Readings that are open in the database. */
  countOpen(database: string): Promise<number>
  end(): Promise<void>
}

/** Not started yet. */
export async function ferretdb(tls: ServerCertificateFiles): Promise<Ferretdb> {
  const { folder, dispose } = createEngineFolder('ferretdb')
  const [port = 0, plain_port = 0, debug_port = 0] = await findFreePorts(3)
  const [username, password] = ['owner', randomBytes(12).toString('hex')]
  mkdirSync(path.join(folder, 'data'))
  const words = {
    ...{ handler: 'sqlite', 'state-dir': folder, 'sqlite-url': `file:${folder}/data/`, 'log-level': 'WARN' },
    ...{ 'listen-addr': `127.0.0.1:${plain_port}`, 'listen-tls': `127.0.0.1:${port}` },
    ...{ 'listen-tls-cert-file': tls.cert, 'listen-tls-key-file': tls.key },
    ...{ 'debug-addr': `127.0.0.1:${debug_port}`, telemetry: 'disable', 'setup-database': 'admin' },
    ...{ 'setup-username': username, 'setup-password': password },
  }
  const args = Object.entries(words).map(([name, value]) => `--${name}=${value}`)
  const program = { command, args: [...args, '--test-enable-new-auth'], cwd: folder }
  const files = { log: path.join(folder, 'log'), pid_file: path.join(folder, 'pid') }
  const read = async (at: string) => await (await fetch(`http://127.0.0.1:${debug_port}/debug/${at}`)).text()
  const server = serverProcess({ name: 'ferretdb', program, ...files }, async () => {
    return (await read('metrics')).includes('ferretdb_up') && (await isListening(port))
  })
  const elsewhere = await forwardPort('127.0.0.3', port)
  return {
    ...{ ...server, port, plain_port, password, username },
    async connect() {
      const url = `mongodb://${username}:${password}@127.0.0.1:${port}/?tls=true&directConnection=true`
      return await new MongoClient(url, { ca: readFileSync(tls.ca), authSource: 'admin' }).connect()
    },
    async countOpen(database) {
      const [, open] = new RegExp(`^ferretdb_sqldb_in_use\\{db="${database}"\\} (\\d+)$`, 'm').exec(
        await read('metrics'),
      ) ?? ['', '0']
      return Number(open)
    },
    async end() {
      elsewhere.close()
      await server.kill()
      dispose()
    },
  }
}
