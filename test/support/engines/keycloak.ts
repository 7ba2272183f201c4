// A real Keycloak for a test file or a whole run, over a folder of its own: started again after a kill it has the same realms.
import { randomBytes } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod'
import { buildKeycloakRealm } from './keycloak-realm.ts'
import type { ServerCertificateFiles } from './server-certificates.ts'
import {
  createEngineFolder,
  findFreePorts,
  type ServerDescription,
  type ServerProcess,
  serverProcess,
} from './server-process.ts'

const keycloakHome = process.env.KEYCLOAK_HOME ?? ''

export const keycloakRequirement = {
  isPresent: existsSync(path.join(keycloakHome, 'bin/kc.sh')),
  name: 'Keycloak',
  hint: 'KEYCLOAK_HOME must name its folder, as .ci/run makes one',
}

export type Keycloak = ServerProcess & {
  readonly description: KeycloakDescription
  /** The realm's issuer. */
  readonly issuer: string
  /** Of the realm; over TLS with certificates. */
  readonly tokenUrl: string
  /** A form to the realm's token endpoint. */
  token(form: Readonly<Record<string, string>>): Promise<TokenAnswer>
  /** Makes a new signing key, which signs from then on; the old ones stay published. */
  rotate(): Promise<void>
  /** Kills it and removes its folder; a shared one runs on. */
  end(): Promise<void>
}

const tokenAnswer = z.looseObject({
  access_token: z.string().default(''),
  id_token: z.string().optional(),
  refresh_token: z.string().optional(),
  error: z.string().optional(),
})
export type TokenAnswer = z.infer<typeof tokenAnswer>

export type KeycloakOptions = {
  /** Of access tokens; five minutes by default. */
  readonly lifespan_s?: number
  /** It speaks TLS too, on a port of its own. */
  readonly tls?: ServerCertificateFiles
}

/** Not started yet. */
export async function keycloak({ lifespan_s, tls }: KeycloakOptions = {}): Promise<Keycloak> {
  const { folder, dispose } = createEngineFolder('keycloak')
  const [port = 0, management = 0, tls_port = 0] = await findFreePorts(3)
  const admin = { username: 'admin', password: randomBytes(12).toString('hex') }
  prepareFolder(folder)
  const program = buildProgram(folder, { port, management, admin }, tls ? buildTlsArguments(tls_port, tls) : [])
  const server = { name: 'keycloak', program, log: path.join(folder, 'log'), pid_file: path.join(folder, 'pid') }
  const description = { port, admin, server, ...(tls ? { tls: { port: tls_port, ca: tls.ca } } : {}) }
  return keycloakServer(description, { lifespan_s, dispose })
}

/** Enough for another process to use a server that this one prepared. */
export type KeycloakDescription = {
  readonly port: number
  readonly admin: KeycloakLaunch['admin']
  readonly server: ServerDescription
  readonly tls?: { readonly port: number; readonly ca: string }
}

type KeycloakUse = {
  /** Made by the first `start`. */
  readonly realm?: string
  readonly lifespan_s?: number | undefined
  /** Removes the folder at the end; without it the server is shared, and runs on after `end`. */
  readonly dispose?: () => void
}

export function keycloakServer(
  description: KeycloakDescription,
  { realm = 'it', lifespan_s = 300, dispose }: KeycloakUse = {},
): Keycloak {
  const { port, admin, tls } = description
  const base = `http://127.0.0.1:${port}`
  const issuer = `${base}/realms/${realm}`
  const isReady = async () => (await fetch(`${base}/realms/master/.well-known/openid-configuration`)).ok
  const server = serverProcess(description.server, isReady, dispose === undefined)
  const tokenBase = tls ? `https://127.0.0.1:${tls.port}/realms/${realm}` : issuer
  let hasRealm = false
  return {
    ...server,
    description,
    issuer,
    tokenUrl: `${tokenBase}/protocol/openid-connect/token`,
    token: (form) => requestToken(issuer, form),
    rotate: () => rotateRealmKey(base, admin, realm),
    async start() {
      await server.start()
      if (!hasRealm) await sendAdminRequest(base, admin, '', buildKeycloakRealm(realm, lifespan_s))
      hasRealm = true
    },
    async end() {
      if (dispose === undefined) return server.start()
      await server.kill()
      dispose()
    },
  }
}

/** The program is shared and never written to; what it keeps lies in `folder`. */
function prepareFolder(folder: string): void {
  for (const shared of ['lib', 'conf', 'providers', 'themes'])
    symlinkSync(path.join(keycloakHome, shared), path.join(folder, shared))
  mkdirSync(path.join(folder, 'bin'))
  copyFileSync(path.join(keycloakHome, 'bin/kc.sh'), path.join(folder, 'bin/kc.sh'))
  chmodSync(path.join(folder, 'bin/kc.sh'), 0o755)
  mkdirSync(path.join(folder, 'data'))
}

type KeycloakLaunch = { port: number; management: number; admin: { username: string; password: string } }

function buildTlsArguments(port: number, { cert, key }: ServerCertificateFiles): string[] {
  return [`--https-port=${port}`, `--https-certificate-file=${cert}`, `--https-certificate-key-file=${key}`]
}

function buildProgram(folder: string, { port, management, admin }: KeycloakLaunch, more: readonly string[]) {
  const options = [
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

async function rotateRealmKey(base: string, admin: KeycloakLaunch['admin'], realm: string): Promise<void> {
  await sendAdminRequest(base, admin, `/${realm}/components`, {
    name: `key ${randomBytes(4).toString('hex')}`,
    providerId: 'rsa-generated',
    providerType: 'org.keycloak.keys.KeyProvider',
    config: { priority: [String(Math.floor(Date.now() / 1_000))], active: ['true'], enabled: ['true'] },
  })
}

/** Creates something by the administration interface: a realm at the empty path. Throws unless it was created. */
async function sendAdminRequest(
  base: string,
  admin: KeycloakLaunch['admin'],
  at: string,
  body: unknown,
): Promise<void> {
  const form = { grant_type: 'password', client_id: 'admin-cli', ...admin }
  const { access_token } = await requestToken(`${base}/realms/master`, form)
  const answer = await fetch(`${base}/admin/realms${at}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (answer.status !== 201)
    throw new Error(`Keycloak did not create ${at || 'the realm'}: ${answer.status} ${await answer.text()}`)
}
