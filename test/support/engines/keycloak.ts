// A real Keycloak for a test file, over a folder of its own: killed and started again it has the same keys and people.
import { randomBytes } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod'
import { buildKeycloakRealm } from './keycloak-realm.ts'
import type { ServerCertificateFiles } from './server-certificates.ts'
import { createEngineFolder, findFreePorts, type ServerProcess, serverProcess } from './server-process.ts'

const keycloakHome = process.env.KEYCLOAK_HOME ?? ''

export const keycloakRequirement = {
  isPresent: existsSync(path.join(keycloakHome, 'bin/kc.sh')),
  name: 'Keycloak',
  hint: 'KEYCLOAK_HOME must name its folder, as .ci/run makes one',
}

export type Keycloak = ServerProcess & {
  /** The realm's issuer. */
  readonly issuer: string
  /** Of the realm; over TLS where certificates were given. */
  readonly tokenUrl: string
  /** A form to the realm's token endpoint. */
  token(form: Readonly<Record<string, string>>): Promise<TokenAnswer>
  /** Makes a new signing key, which signs from then on; the old ones stay published. */
  rotate(): Promise<void>
  /** Kills it and removes its folder. */
  end(): Promise<void>
}

const tokenAnswer = z.looseObject({
  access_token: z.string().default(''),
  id_token: z.string().optional(),
  refresh_token: z.string().optional(),
  error: z.string().optional(),
})
export type TokenAnswer = z.infer<typeof tokenAnswer>

const realmName = 'it'

export type KeycloakOptions = {
  /** Of access tokens; five minutes unless said. */
  readonly lifespan_s?: number
  /** It speaks TLS too, on a port of its own. */
  readonly tls?: ServerCertificateFiles
}

/** Not started yet. */
export async function keycloak({ lifespan_s = 300, tls }: KeycloakOptions = {}): Promise<Keycloak> {
  const { folder, dispose } = createEngineFolder('keycloak')
  const [port = 0, management = 0, safe = 0] = await findFreePorts(3)
  const base = `http://127.0.0.1:${port}`
  const admin = { username: 'admin', password: randomBytes(12).toString('hex') }
  prepareFolder(folder, lifespan_s)
  const issuer = `${base}/realms/${realmName}`
  const server = serverProcess(
    {
      name: 'keycloak',
      program: buildProgram(folder, { port, management, admin }, tls ? buildTlsArguments(safe, tls) : []),
      log: path.join(folder, 'log'),
      pid_file: path.join(folder, 'pid'),
    },
    async () => (await fetch(`${issuer}/.well-known/openid-configuration`)).ok,
  )
  return {
    ...server,
    issuer,
    tokenUrl: `${tls ? `https://127.0.0.1:${safe}/realms/${realmName}` : issuer}/protocol/openid-connect/token`,
    token: (form) => requestToken(issuer, form),
    rotate: () => rotateRealmKey(base, admin),
    async end() {
      await server.kill()
      dispose()
    },
  }
}

/** The program is shared and never written to; what it keeps lies in `folder`. */
function prepareFolder(folder: string, lifespan_s: number): void {
  for (const shared of ['lib', 'conf', 'providers', 'themes'])
    symlinkSync(path.join(keycloakHome, shared), path.join(folder, shared))
  mkdirSync(path.join(folder, 'bin'))
  copyFileSync(path.join(keycloakHome, 'bin/kc.sh'), path.join(folder, 'bin/kc.sh'))
  chmodSync(path.join(folder, 'bin/kc.sh'), 0o755)
  mkdirSync(path.join(folder, 'data/import'), { recursive: true })
  writeFileSync(
    path.join(folder, `data/import/${realmName}-realm.json`),
    JSON.stringify(buildKeycloakRealm(realmName, lifespan_s)),
  )
}

type KeycloakLaunch = { port: number; management: number; admin: { username: string; password: string } }

function buildTlsArguments(port: number, { cert, key }: ServerCertificateFiles): string[] {
  return [`--https-port=${port}`, `--https-certificate-file=${cert}`, `--https-certificate-key-file=${key}`]
}

function buildProgram(folder: string, { port, management, admin }: KeycloakLaunch, more: readonly string[]) {
  const options = [
    '--import-realm',
    '--cache=local',
    '--http-enabled=true',
    '--http-host=127.0.0.1',
    `--http-port=${port}`,
    `--http-management-port=${management}`,
    `--hostname=http://127.0.0.1:${port}`,
    // Every commit on disk before it is answered: a kill must not take keys away.
    `--db-url=jdbc:h2:file:${folder}/data/h2/keycloak;WRITE_DELAY=0;NON_KEYWORDS=VALUE`,
    ...more,
  ]
  const env = {
    PATH: process.env.PATH,
    JAVA_HOME: process.env.JAVA_HOME,
    JAVA_OPTS_KC_HEAP: '-Xms128m -Xmx512m',
    JAVA_OPTS_APPEND: '-XX:TieredStopAtLevel=1',
    KC_BOOTSTRAP_ADMIN_USERNAME: admin.username,
    KC_BOOTSTRAP_ADMIN_PASSWORD: admin.password,
  }
  return { command: path.join(folder, 'bin/kc.sh'), args: ['start', '--optimized', ...options], cwd: folder, env }
}

async function requestToken(issuer: string, form: Readonly<Record<string, string>>): Promise<TokenAnswer> {
  const body = new URLSearchParams(form)
  const answer = await fetch(`${issuer}/protocol/openid-connect/token`, { method: 'POST', body })
  return tokenAnswer.parse(await answer.json())
}

async function rotateRealmKey(base: string, admin: KeycloakLaunch['admin']): Promise<void> {
  const form = { grant_type: 'password', client_id: 'admin-cli', ...admin }
  const { access_token } = await requestToken(`${base}/realms/master`, form)
  const answer = await fetch(`${base}/admin/realms/${realmName}/components`, {
    method: 'POST',
    headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: `key ${randomBytes(4).toString('hex')}`,
      providerId: 'rsa-generated',
      providerType: 'org.keycloak.keys.KeyProvider',
      config: { priority: [String(Math.floor(Date.now() / 1_000))], active: ['true'], enabled: ['true'] },
    }),
  })
  if (answer.status !== 201) throw new Error(`the key was not made: ${answer.status} ${await answer.text()}`)
}
