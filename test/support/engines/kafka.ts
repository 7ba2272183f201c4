// A real Kafka of a test's own: one broker that is its own controller, with listeners without TLS, with it, and with users.
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { isOnPath } from '../runner/requires.ts'
import type { ServerCertificateFiles } from './server-certificates.ts'
import { createEngineFolder, findFreePorts, isListening, type ServerProcess, serverProcess } from './server-process.ts'

const libraries = process.env.KAFKA_LIBRARIES ?? ''
export const kafkaRequirement = {
  isPresent: existsSync(libraries) && isOnPath('java'),
  name: 'Kafka',
  hint: 'KAFKA_LIBRARIES names the folder of its libraries; .ci/run fetches them',
}

export type KafkaMessage = {
  readonly value?: string | Buffer | null
  readonly key?: string | Buffer
  readonly partition?: number
  readonly headers?: readonly (readonly [string, string | Buffer | null])[]
  /** In place of a value: as many bytes. */
  readonly zeros?: number
  /** Milliseconds since 1970. */
  readonly at?: number
}
type ProduceOptions = {
  readonly end?: 'commit' | 'abort' | 'open'
  readonly settings?: Readonly<Record<string, string>>
}

/** By the client of Kafka itself, without TLS, as a user who may do everything. */
export type KafkaDriver = {
  do(command: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>
  create(topic: string, partitions?: number, settings?: Readonly<Record<string, string>>): Promise<void>
  produce(topic: string, messages: readonly (KafkaMessage | string | Buffer)[], options?: ProduceOptions): Promise<void>
  end(): void
}

export type Kafka = ServerProcess & {
  /** Without TLS and users. */
  readonly port: number
  /** With TLS, without users. */
  readonly tls_port: number
  /** With both: by PLAIN and SCRAM. */
  readonly user_port: number
  readonly folder: string
  /** Of every user. */
  readonly password: string
  drive(): KafkaDriver
  /** Another broker of its cluster, without TLS and users. Not started yet. */
  addBroker(): Promise<ServerProcess & { readonly port: number }>
  /** As the loss of a disk: all messages of a partition are gone. Only while it does not run. */
  losePartition(topic: string, partition: number): void
  end(): Promise<void>
}

/** Not started yet. `users`: by SCRAM, the first one by PLAIN too; they may read nothing until it is allowed. */
export async function kafka(tls: ServerCertificateFiles, users: readonly string[] = ['reader']): Promise<Kafka> {
  const { folder, dispose } = createEngineFolder('kafka')
  const [port = 0, tls_port = 0, user_port = 0, controller = 0] = await findFreePorts(4)
  const password = randomBytes(12).toString('hex')
  const file = (name: string) => path.join(folder, name)
  const identity = `${readFileSync(tls.key, 'utf8')}${readFileSync(tls.cert, 'utf8')}`
  writeFileSync(file('identity.pem'), identity, { mode: 0o600 })
  const plain = `user_${users[0]}="${password}"`
  const settings = buildSettings(folder, { port, tls_port, user_port, controller }, plain)
  writeFileSync(file('server.properties'), `${settings.join('\n')}\n`)
  writeFileSync(file('log4j2.properties'), 'rootLogger.level = error\n')
  const java = ['-Xmx1g', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', `${libraries}/*`]
  // Not with a dash first, which its programs take for an option.
  const id = `A${randomBytes(16).toString('base64url').slice(1)}`
  const scram = users.flatMap((name) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((kind) => ['-S', `${kind}=[name=${name},password=${password}]`]),
  )
  const format = ['kafka.tools.StorageTool', 'format', '-t', id, '-c', file('server.properties'), ...scram]
  execFileSync('java', [...java, ...format], { stdio: 'pipe' })
  const program = { command: 'java', args: [...java, 'kafka.Kafka', file('server.properties')], cwd: folder }
  const server = { name: 'kafka', program, log: file('log'), pid_file: file('server.pid') }
  const drivers = new Set<KafkaDriver>()
  const others: ServerProcess[] = []
  const process = serverProcess(server, () => isListening(port))
  return {
    ...process,
    ...{ port, tls_port, user_port, folder, password },
    drive() {
      const driver = startDriver(java, `127.0.0.1:${port}`)
      drivers.add(driver)
      return driver
    },
    async addBroker() {
      const number = others.length + 2
      const [own_port = 0] = await findFreePorts(1)
      const listeners = [`listeners=OPEN://127.0.0.1:${own_port}`, `advertised.listeners=OPEN://127.0.0.1:${own_port}`]
      const changed = ['process.roles=broker', `node.id=${number}`, ...listeners, `log.dirs=${folder}/data-${number}`]
      const names = changed.map((line) => line.slice(0, line.indexOf('=') + 1))
      const kept = settings.filter((line) => !names.some((name) => line.startsWith(name)))
      const properties = file(`server-${number}.properties`)
      writeFileSync(properties, `${[...kept, ...changed].join('\n')}\n`)
      execFileSync('java', [...java, 'kafka.tools.StorageTool', 'format', '-t', id, '-c', properties], {
        stdio: 'pipe',
      })
      const own = { command: 'java', args: [...java, 'kafka.Kafka', properties], cwd: folder }
      const description = { name: 'kafka', program: own, log: file(`log-${number}`), pid_file: file(`${number}.pid`) }
      const other = serverProcess(description, () => isListening(own_port))
      others.push(other)
      return { ...other, port: own_port }
    },
    losePartition: (topic, partition) => rmSync(file(`data/${topic}-${partition}`), { recursive: true }),
    async end() {
      for (const driver of drivers) driver.end()
      for (const each of [...others, process]) await each.kill()
      dispose()
    },
  }
}

type Ports = {
  readonly port: number
  readonly tls_port: number
  readonly user_port: number
  readonly controller: number
}

function buildSettings(folder: string, { port, tls_port, user_port, controller }: Ports, plain: string): string[] {
  const listeners = `OPEN://127.0.0.1:${port},SECURE://127.0.0.1:${tls_port},USERS://127.0.0.1:${user_port}`
  const identity = (name: string) => [
    `listener.name.${name}.ssl.keystore.type=PEM`,
    `listener.name.${name}.ssl.keystore.location=${folder}/identity.pem`,
  ]
  const module = (name: string) => `org.apache.kafka.common.security.${name} required`
  const jaas = 'listener.name.users'
  return [
    ...['process.roles=broker,controller', 'node.id=1', `controller.quorum.voters=1@127.0.0.1:${controller}`],
    `listeners=${listeners},CONTROLLER://127.0.0.1:${controller}`,
    `advertised.listeners=${listeners}`,
    'listener.security.protocol.map=OPEN:PLAINTEXT,SECURE:SSL,USERS:SASL_SSL,CONTROLLER:PLAINTEXT',
    ...['controller.listener.names=CONTROLLER', 'inter.broker.listener.name=OPEN', `log.dirs=${folder}/data`],
    ...[...identity('secure'), ...identity('users')],
    `${jaas}.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512`,
    // A proof is good for so long.
    `${jaas}.scram-sha-256.connections.max.reauth.ms=4000`,
    `${jaas}.plain.sasl.jaas.config=${module('plain.PlainLoginModule')} ${plain};`,
    `${jaas}.scram-sha-256.sasl.jaas.config=${module('scram.ScramLoginModule')};`,
    `${jaas}.scram-sha-512.sasl.jaas.config=${module('scram.ScramLoginModule')};`,
    'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users=User:ANONYMOUS',
    ...['offsets.topic.replication.factor=1', 'offsets.topic.num.partitions=1'],
    ...['transaction.state.log.replication.factor=1', 'transaction.state.log.min.isr=1'],
    ...['transaction.state.log.num.partitions=1', 'group.initial.rebalance.delay.ms=0'],
    ...['auto.create.topics.enable=false', 'message.max.bytes=67108864', 'socket.request.max.bytes=104857600'],
    ...['num.network.threads=2', 'num.io.threads=2', 'log.cleaner.enable=false'],
  ]
}

function startDriver(java: readonly string[], servers: string): KafkaDriver {
  const source = path.resolve('test/support/engines/kafka/KafkaDriver.java')
  const child: ChildProcessWithoutNullStreams = spawn('java', [...java, source, servers])
  const errors: string[] = []
  child.stderr.on('data', (bytes: Buffer) => errors.push(String(bytes)))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let last = Promise.resolve<unknown>(undefined)
  const perform = async (command: Readonly<Record<string, unknown>>) => {
    child.stdin.write(`${JSON.stringify(command)}\n`)
    const { value, done } = await lines.next()
    if (done) throw new Error(`the client of Kafka ended:\n${errors.join('').slice(-4_000)}`)
    const { ok, fault, ...answer } = JSON.parse(value)
    if (!ok) throw new Error(`the client of Kafka: ${fault}`)
    return answer as Readonly<Record<string, unknown>>
  }
  const driver: KafkaDriver = {
    do(command) {
      const answer = last.then(() => perform(command))
      last = answer.catch(() => undefined)
      return answer
    },
    async create(topic, partitions = 1, settings = {}) {
      await driver.do({ do: 'create', topic, partitions, settings })
    },
    async produce(topic, messages, options = {}) {
      await driver.do({ do: 'produce', topic, messages: messages.map(encodeMessage), ...options })
    },
    end: () => child.kill('SIGKILL'),
  }
  return driver
}

function encodeMessage(message: KafkaMessage | string | Buffer): Readonly<Record<string, unknown>> {
  const {
    value = null,
    key,
    headers = [],
    ...others
  } = typeof message === 'string' || Buffer.isBuffer(message) ? { value: message } : message
  const encode = (bytes: string | Buffer | null | undefined) =>
    bytes === null || bytes === undefined ? null : Buffer.from(bytes).toString('base64')
  const encoded = headers.map(([name, bytes]) => [name, encode(bytes)])
  return { ...others, value: encode(value), key: encode(key), headers: encoded }
}
