// A real Gitea of a test's own, with an administrator, a user for the site and an empty project.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  chooseUnprivilegedUser,
  copyHome,
  createEngineFolder,
  findFreePorts,
  type ServerProcess,
  serverProcess,
} from './server-process.ts'

const home = process.env.GITEA_HOME ?? ''
export const giteaRequirement = {
  isPresent: existsSync(path.join(home, 'gitea')),
  name: 'Gitea',
  hint: 'GITEA_HOME names the folder of a build of it; .ci/run makes one',
}

export type Gitea = Pick<ServerProcess, 'freeze' | 'thaw'> & {
  readonly url: string
  readonly project: string
  /** May write the project, and nothing else. */
  readonly token: string
  /** A request of the administrator below /api/v1. */
  request(method: string, at: string, body?: unknown): Promise<unknown>
  end(): Promise<void>
}

const owner = 'owner'
const site_user = 'site'
const password = () => `${randomBytes(12).toString('hex')}Aa1!`

export async function gitea(): Promise<Gitea> {
  const { folder, dispose } = createEngineFolder('gitea')
  const [port = 0] = await findFreePorts(1)
  const url = `http://127.0.0.1:${port}`
  const data = path.join(folder, 'data')
  mkdirSync(path.join(data, 'home'), { recursive: true })
  const config = path.join(folder, 'app.ini')
  const own = copyHome(home, folder)
  writeFileSync(config, describeServer({ own, data, port, url }))
  const user = chooseUnprivilegedUser(folder)
  const env = { PATH: process.env.PATH ?? '', HOME: path.join(data, 'home'), USER: runUser, GITEA_WORK_DIR: data }
  const command = path.join(own, 'gitea')
  const run = (...words: readonly string[]) =>
    execFileSync(command, [...words, '--config', config], {
      env,
      ...user,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  run('migrate')
  const tokens = new Map<string, string>()
  for (const [name, scopes] of [[owner, 'all'] as const, [site_user, 'write:repository'] as const]) {
    const rights = name === owner ? ['--admin'] : []
    const who = ['--username', name, '--password', password(), '--email', `${name}@example.invalid`]
    run('admin', 'user', 'create', ...who, '--must-change-password=false', ...rights)
    const minted = run(
      'admin',
      'user',
      'generate-access-token',
      '--username',
      name,
      '--token-name',
      't',
      '--scopes',
      scopes,
      '--raw',
    )
    tokens.set(name, minted.trim().split('\n').at(-1) ?? '')
  }
  const program = { command, args: ['web', '--config', config], env, ...user, cwd: folder }
  const files = { log: path.join(folder, 'log'), pid_file: path.join(folder, 'pid') }
  const server = serverProcess({ name: 'gitea', program, ...files }, async () => {
    return (await fetch(`${url}/api/v1/version`)).ok
  })
  await server.start()
  const request: Gitea['request'] = async (method, at, body) => {
    const headers = { authorization: `token ${tokens.get(owner)}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/api/v1${at}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${await response.text()}`)
    return response.status === 204 ? undefined : await response.json().catch(() => undefined)
  }
  await request('POST', '/user/repos', { name: 'dags', private: true, auto_init: true, default_branch: 'main' })
  await request('PUT', `/repos/${owner}/dags/collaborators/${site_user}`, { permission: 'write' })
  return {
    ...{ url, project: `${owner}/dags`, token: tokens.get(site_user) ?? '', request },
    ...{ freeze: server.freeze, thaw: server.thaw },
    async end() {
      await server.kill()
      dispose()
    },
  }
}

/** It refuses to run as root. */
const runUser = process.getuid?.() === 0 ? 'nobody' : execFileSync('id', ['-un'], { encoding: 'utf8' }).trim()

type GiteaPlace = { readonly own: string; readonly data: string; readonly port: number; readonly url: string }

function describeServer({ own, data, port, url }: GiteaPlace): string {
  const secret = () => randomBytes(32).toString('hex')
  return `RUN_USER = ${runUser}
RUN_MODE = prod
WORK_PATH = ${data}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${url}/
DISABLE_SSH = true
STATIC_ROOT_PATH = ${own}
OFFLINE_MODE = true
LFS_START_SERVER = false
[database]
DB_TYPE = sqlite3
PATH = ${data}/gitea.db
SQLITE_JOURNAL_MODE = WAL
[repository]
ROOT = ${data}/repos
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
SECRET_KEY = ${secret()}
INTERNAL_TOKEN = ${secret()}
PASSWORD_HASH_ALGO = pbkdf2_v2
[oauth2]
JWT_SECRET = ${randomBytes(32).toString('base64url')}
[service]
DISABLE_REGISTRATION = true
[log]
LEVEL = Warn
MODE = console
[actions]
ENABLED = false
[cron]
ENABLED = false
`
}
