// A real PostgreSQL of a test's own: passwords by SCRAM, and TLS beside plain connections.
import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { ServerCertificateFiles } from './server-certificates.ts'
import {
  chooseUnprivilegedUser,
  createEngineFolder,
  findFreePorts,
  type ServerProcess,
  serverProcess,
} from './server-process.ts'

/** Debian has the programs of each version in a folder of their own, and none of the server on PATH. */
const versions = '/usr/lib/postgresql'
const programs = findPrograms()

export const postgresRequirement = {
  isPresent: programs !== undefined,
  name: 'postgresql',
  hint: `no version in ${versions}`,
}

export type Postgres = ServerProcess & {
  readonly port: number
  readonly password: string
  /** The superuser, whose password it is. */
  readonly username: string
  /** Runs statements as the superuser, by no client that is under test; the rows without headings. */
  sql(statements: string): Promise<string>
  /** Kills it and removes its folder. */
  end(): Promise<void>
}

/** Not started yet. `hba`: rules of authentication before its own. */
export async function postgres(tls: ServerCertificateFiles, hba: readonly string[] = []): Promise<Postgres> {
  const bin = programs ?? ''
  const { folder, dispose } = createEngineFolder('postgres')
  const [port = 0] = await findFreePorts(1)
  const [username, password] = ['owner', randomBytes(12).toString('hex')]
  const at = (name: string) => path.join(folder, name)
  mkdirSync(at('data'))
  writeFileSync(at('password'), password)
  for (const name of ['cert', 'key'] as const) copyFileSync(tls[name], at(`${name}.pem`))
  const user = chooseUnprivilegedUser(folder)
  const env = { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C' }
  const authentication = ['--auth-local=trust', '--auth-host=scram-sha-256', `--pwfile=${at('password')}`]
  const words = ['-D', at('data'), '-U', username, '-E', 'UTF8', '--locale=C', '--no-sync', ...authentication]
  execFileSync(path.join(bin, 'initdb'), words, { ...user, env, cwd: folder, stdio: 'pipe' })
  execFileSync('chmod', ['600', at('key.pem')])
  const settings = [
    ...[
      "listen_addresses = '127.0.0.1, 127.0.0.3'",
      `port = ${port}`,
      `unix_socket_directories = '${folder}'`,
      'fsync = off',
    ],
    ...['ssl = on', `ssl_cert_file = '${at('cert.pem')}'`, `ssl_key_file = '${at('key.pem')}'`],
    // Texts of values must not depend on it.
    ...["datestyle = 'SQL, DMY'", "timezone = 'Asia/Tokyo'", "bytea_output = 'escape'"],
  ]
  appendFileSync(at('data/postgresql.conf'), `${settings.join('\n')}\n`)
  prepend(at('data/pg_hba.conf'), hba)
  const sql = async (statements: string) => {
    const options = [
      '-h',
      folder,
      '-p',
      String(port),
      '-U',
      username,
      '-d',
      'postgres',
      '-qAtX',
      '-v',
      'ON_ERROR_STOP=1',
    ]
    const { stdout } = await promisify(execFile)(path.join(bin, 'psql'), [...options, '-c', statements], { env })
    return stdout
  }
  const program = { command: path.join(bin, 'postgres'), args: ['-D', at('data')], env, cwd: folder, ...user }
  const isReady = async () => (await sql('SELECT 1')).trim() === '1'
  const server = serverProcess({ name: 'postgres', program, log: at('log'), pid_file: at('pid') }, isReady)
  return {
    ...server,
    ...{ port, password, username, sql },
    async end() {
      await server.kill()
      dispose()
    },
  }
}

function findPrograms(): string | undefined {
  if (!existsSync(versions)) return undefined
  const newest = readdirSync(versions).toSorted((a, b) => Number(b) - Number(a))[0]
  const bin = path.join(versions, newest ?? '', 'bin')
  return existsSync(path.join(bin, 'initdb')) ? bin : undefined
}

function prepend(file: string, lines: readonly string[]): void {
  execFileSync('sed', ['-i', `1i ${['#', ...lines].join('\\n')}`, file])
}
