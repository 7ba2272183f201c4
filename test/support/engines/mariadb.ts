// A real MariaDB of a test's own: passwords, and TLS beside plain connections.
import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
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

/** Where Debian has it, outside the PATH of most users. */
const program_file = '/usr/sbin/mariadbd'

export const mariadbRequirement = {
  isPresent: existsSync(program_file),
  name: 'mariadb-server',
  hint: `there is no ${program_file}`,
}

export type Mariadb = ServerProcess & {
  readonly port: number
  readonly password: string
  /** May do everything, and has the password. */
  readonly username: string
  /** Runs statements in the database `test`, by no client that is under test; the rows without headings. */
  sql(statements: string): Promise<string>
  /** Kills it and removes its folder. */
  end(): Promise<void>
}

/** Not started yet. */
export async function mariadb(tls: ServerCertificateFiles): Promise<Mariadb> {
  const { folder, dispose } = createEngineFolder('mariadb')
  const [port = 0] = await findFreePorts(1)
  const [username, password] = ['owner', randomBytes(12).toString('hex')]
  const at = (name: string) => path.join(folder, name)
  for (const name of ['cert', 'key', 'ca'] as const) copyFileSync(tls[name], at(`${name}.pem`))
  const settings = [
    ...[
      '[mariadbd]',
      `datadir=${at('data')}`,
      `port=${port}`,
      `socket=${at('socket')}`,
      'bind-address=127.0.0.1,127.0.0.3',
    ],
    ...[`tmpdir=${folder}`, `pid-file=${at('server.pid')}`, 'innodb-flush-log-at-trx-commit=0', 'skip-name-resolve'],
    ...[`ssl-cert=${at('cert.pem')}`, `ssl-key=${at('key.pem')}`, `ssl-ca=${at('ca.pem')}`, 'max-allowed-packet=64M'],
    // Texts of values, and the meaning of a backslash, must not depend on it.
    ...['default-time-zone=+09:00', 'sql-mode=NO_BACKSLASH_ESCAPES,ANSI_QUOTES', 'character-set-server=latin1'],
  ]
  writeFileSync(at('server.cnf'), `${settings.join('\n')}\n`)
  const user = chooseUnprivilegedUser(folder)
  const env = { PATH: `${process.env.PATH}:/usr/sbin:/usr/bin`, HOME: folder, LC_ALL: 'C' }
  const words = [`--defaults-file=${at('server.cnf')}`, '--auth-root-authentication-method=normal', '--skip-test-db']
  execFileSync('mariadb-install-db', words, { ...user, env, cwd: folder, stdio: 'pipe' })
  const sql = async (statements: string, database = 'test') => {
    const options = [`--socket=${at('socket')}`, '-uroot', '-N', '-B', '--default-character-set=utf8mb4']
    const words = ['--no-defaults', ...options, '-e', statements, database]
    return (await promisify(execFile)('mariadb', words, { env })).stdout
  }
  const program = { command: program_file, args: [`--defaults-file=${at('server.cnf')}`], env, cwd: folder, ...user }
  const isReady = async () => {
    const owner = `CREATE DATABASE IF NOT EXISTS test CHARACTER SET utf8mb4;
      CREATE USER IF NOT EXISTS ${username}@'%' IDENTIFIED BY '${password}'; GRANT ALL ON *.* TO ${username}@'%'`
    await sql(owner, 'mysql')
    return true
  }
  const server = serverProcess({ name: 'mariadb', program, log: at('log'), pid_file: at('pid') }, isReady)
  return {
    ...server,
    ...{ port, password, username, sql: (statements) => sql(statements) },
    async end() {
      await server.kill()
      dispose()
    },
  }
}
