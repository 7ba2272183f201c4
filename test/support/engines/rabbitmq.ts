// A real RabbitMQ for a test file or a whole run: its users and their rights, TLS with certificates, an epmd that ends with it.
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { type Channel, type ChannelModel, connect } from 'amqplib'
import { isOnPath } from '../runner/requires.ts'
import type { ServerCertificateFiles } from './server-certificates.ts'
import {
  createEngineFolder,
  findFreePorts,
  type ServerDescription,
  type ServerProcess,
  serverProcess,
} from './server-process.ts'

export const rabbitmqRequirement = {
  isPresent: isOnPath('rabbitmq-server') && isOnPath('epmd'),
  name: 'rabbitmq-server',
  hint: 'not found on PATH',
}

export type Rabbitmq = ServerProcess & {
  readonly description: RabbitmqDescription
  readonly port: number
  readonly tls_port: number
  readonly url: string
  readonly vhost: string
  readonly folder: string
  /** Of every user, the administrator `admin` too. */
  readonly password: string
  /** As the administrator, who may do everything; the channel closes with its connection. */
  connect(): Promise<{ connection: ChannelModel; channel: Channel }>
  /** The output of `rabbitmqctl`. */
  ctl(...words: readonly string[]): Promise<string>
  /** Removes everything but the users, as the loss of its disk does. Only while it does not run. */
  loseDisk(): void
  /** Kills it and removes its folder; a shared one runs on. */
  end(): Promise<void>
}

/** Regular expressions of names that a user may declare, publish or bind to, and consume from. */
export type RabbitmqRights = { readonly configure: string; readonly write: string; readonly read: string }

export type RabbitmqOptions = {
  readonly users?: Readonly<Record<string, RabbitmqRights>>
  readonly tls?: ServerCertificateFiles
}

const everyRight: RabbitmqRights = { configure: '.*', write: '.*', read: '.*' }

/** Not started yet. */
export async function rabbitmq({ users = {}, tls }: RabbitmqOptions = {}): Promise<Rabbitmq> {
  const { folder, dispose } = createEngineFolder('rabbitmq')
  const [port = 0, tls_port = 0, distribution = 0, epmd = 0] = await findFreePorts(4)
  const password = randomBytes(12).toString('hex')
  const file = (name: string) => path.join(folder, name)
  const write = (name: string, text: string, mode = 0o600) => fs.writeFileSync(file(name), text, { mode })
  write('.erlang.cookie', randomBytes(16).toString('hex'), 0o400)
  write('definitions.json', JSON.stringify(buildDefinitions('/', { admin: everyRight, ...users }, password)))
  write('enabled_plugins', '[rabbitmq_auth_mechanism_ssl].\n')
  write('rabbitmq.conf', `${buildConfiguration(file('definitions.json'), port, tls_port, tls).join('\n')}\n`)
  write('run.sh', startScript)
  const env = buildEnvironment(folder, port, distribution, epmd)
  const program = { command: 'sh', args: [file('run.sh')], env, cwd: folder }
  const server = { name: 'rabbitmq', program, log: file('log'), pid_file: file('server.pid') }
  return rabbitmqServer({ folder, port, tls_port, password, server }, { dispose })
}

/** Enough for another process to use a server that this one prepared. */
export type RabbitmqDescription = {
  readonly folder: string
  readonly port: number
  readonly tls_port: number
  readonly password: string
  readonly server: ServerDescription
}

type RabbitmqUse = {
  /** `/` by default; another one is made, with these users, by the first `start`. */
  readonly vhost?: string
  readonly users?: Readonly<Record<string, RabbitmqRights>>
  /** Removes the folder at the end; without it the server is shared, and runs on after `end`. */
  readonly dispose?: () => void
}

export function rabbitmqServer(
  description: RabbitmqDescription,
  { vhost = '/', users, dispose }: RabbitmqUse,
): Rabbitmq {
  const { folder, port, tls_port, password } = description
  const connectTo = async (virtualHost: string) => {
    const options = { hostname: '127.0.0.1', port, username: 'admin', password, vhost: virtualHost }
    const connection = await connect(options, { timeout: 5_000 })
    connection.on('error', () => undefined)
    return connection
  }
  const isReady = () => connectTo('/').then((connection) => connection.close().then(() => true))
  const server = serverProcess(description.server, isReady, dispose === undefined)
  const ctl: Rabbitmq['ctl'] = async (...words) => {
    const { env } = description.server.program
    const { stdout } = await promisify(execFile)(path.join(findPrograms(), 'rabbitmqctl'), ['--quiet', ...words], {
      env,
    })
    return stdout
  }
  let hasVhost = vhost === '/'
  return {
    ...server,
    description,
    port,
    tls_port,
    url: `amqp://127.0.0.1:${port}${vhost === '/' ? '' : `/${vhost}`}`,
    vhost,
    folder,
    password,
    async start() {
      await server.start()
      if (hasVhost) return
      const file = path.join(folder, `${vhost}.json`)
      const definitions = buildDefinitions(vhost, { admin: everyRight, ...users }, password)
      fs.writeFileSync(file, JSON.stringify(definitions), { mode: 0o600 })
      await ctl('import_definitions', file)
      hasVhost = true
    },
    async connect() {
      const connection = await connectTo(vhost)
      const channel = await connection.createChannel()
      channel.on('error', () => undefined)
      return { connection, channel }
    },
    ctl,
    loseDisk: () => fs.rmSync(path.join(folder, 'mnesia'), { recursive: true, force: true }),
    async end() {
      if (dispose === undefined) return server.start()
      await server.kill()
      dispose()
    },
  }
}

/**
 * The node and its epmd under one shell. SIGTERM stops the node in order and takes epmd along, which would otherwise
 * stay for ever; SIGKILL to the group ends all three at once.
 */
const startScript = `
"$EPMD" -relaxed_command_check &
epmd=$!
rabbitmq-server &
node=$!
trap 'kill -TERM $node' TERM
wait $node
wait $node
ended=$?
kill -KILL $epmd
exit $ended
`

/** Not the wrapper on PATH, which turns to a user and to folders of its own. */
function findPrograms(): string {
  const base = '/usr/lib/rabbitmq/lib'
  const version = fs.readdirSync(base).find((name) => name.startsWith('rabbitmq_server-'))
  if (!version) throw new Error(`there is no RabbitMQ in ${base}`)
  return path.join(base, version, 'sbin')
}

function buildEnvironment(folder: string, port: number, distribution: number, epmd: number): NodeJS.ProcessEnv {
  const file = (name: string) => path.join(folder, name)
  return {
    PATH: `${findPrograms()}:${process.env.PATH}`,
    EPMD: 'epmd',
    HOME: folder,
    LC_ALL: 'C.UTF-8',
    ERL_EPMD_PORT: String(epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: `test${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: file('mnesia'),
    RABBITMQ_LOG_BASE: file('logs'),
    RABBITMQ_CONFIG_FILE: file('rabbitmq.conf'),
    RABBITMQ_CONF_ENV_FILE: file('none'),
    RABBITMQ_ENABLED_PLUGINS_FILE: file('enabled_plugins'),
    RABBITMQ_PID_FILE: file('pid'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1} +S 1:1',
  }
}

function buildConfiguration(loaded: string, port: number, tls_port: number, tls?: ServerCertificateFiles): string[] {
  return [
    `load_definitions = ${loaded}`,
    `listeners.tcp.1 = 127.0.0.1:${port}`,
    'auth_mechanisms.1 = PLAIN',
    'auth_mechanisms.2 = EXTERNAL',
    'log.console = true',
    'log.file = false',
    'disk_free_limit.absolute = 50MB',
    'vm_memory_high_watermark.absolute = 1GB',
    ...(tls
      ? [
          `listeners.ssl.1 = 127.0.0.1:${tls_port}`,
          `ssl_options.cacertfile = ${tls.ca}`,
          `ssl_options.certfile = ${tls.cert}`,
          `ssl_options.keyfile = ${tls.key}`,
          'ssl_options.verify = verify_peer',
          'ssl_options.fail_if_no_peer_cert = false',
          'ssl_cert_login_from = common_name',
        ]
      : []),
  ]
}

function buildDefinitions(
  vhost: string,
  users: Readonly<Record<string, RabbitmqRights>>,
  password: string,
): Record<string, unknown> {
  const salt = randomBytes(4)
  const digest = createHash('sha256').update(salt).update(password).digest()
  return {
    vhosts: [{ name: vhost }],
    users: Object.keys(users).map((name) => ({
      name,
      password_hash: Buffer.concat([salt, digest]).toString('base64'),
      hashing_algorithm: 'rabbit_password_hashing_sha256',
      tags: name === 'admin' ? 'administrator' : '',
    })),
    permissions: Object.entries(users).map(([user, rights]) => ({ user, vhost, ...rights })),
  }
}
