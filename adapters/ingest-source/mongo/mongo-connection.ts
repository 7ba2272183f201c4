// One connection to a server of MongoDB: its address by the rule, TLS, the proof of the secret, and bounds on what the server sends.
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { ServerAccess } from '../../../daemon/shared/row-source/server-access.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { CheckedConnection, waitWithin } from '../../platform/address-rule/checked-connection.ts'
import { notMongo } from './bson-json.ts'
import type { MongoConnection, MongoDriver } from './driver.ts'
import { MessageGuard } from './message-guard.ts'
import { describeMongoError } from './mongo-errors.ts'

export type MongoAccess = Omit<ServerAccess, 'host'> & {
  readonly hosts: readonly string[]
  readonly database: string
  /** Database that knows the user. Default: admin. */
  readonly auth_database?: string | undefined
  /** Only servers of it are read. */
  readonly replica_set?: string | undefined
  readonly rule: AddressRule
}

/** To connect, with TLS and the proof of the secret. */
export const connect_timeout_ms = 10_000
/** Rounds of the proof of a secret that a server may demand; those of MongoDB are some 15,000. */
const max_rounds = 1_000_000

export class MongoLink {
  readonly #access: MongoAccess
  readonly #driver: MongoDriver
  readonly #checked: CheckedConnection

  constructor(access: MongoAccess, driver: MongoDriver) {
    this.#access = access
    this.#driver = driver
    this.#checked = new CheckedConnection(access)
  }

  /** Rejects with the error of the socket, of TLS or of the library. */
  async connect(host: string): Promise<MongoConnection> {
    const { makeConnection, performInitialHandshake } = this.#driver
    const options = {
      ...{ id: 1, generation: 1, monitorCommands: false, loadBalanced: false, compressors: [] },
      ...{ connectTimeoutMS: connect_timeout_ms, hostAddress: host, metadata: Promise.resolve(client_description) },
      ...this.#proof(),
    }
    const connection = makeConnection(options, await this.#checked.connect(host))
    guardMessages(connection)
    guardProof(connection)
    await performInitialHandshake(connection, options)
    return connection
  }

  /** The secret is proven by SCRAM, and never sent as it is, with TLS or without. */
  #proof(): object {
    const { username, password, auth_database = 'admin' } = this.#access
    if (username === undefined) return {}
    const { MongoCredentials, proofs } = this.#driver
    const providers = Object.fromEntries(Object.entries(proofs).map(([name, Proof]) => [name, new Proof()]))
    return {
      credentials: new MongoCredentials({ username, password, source: auth_database }),
      authProviders: { getOrCreateProvider: (mechanism: string) => providers[mechanism] },
    }
  }

  /** Ends what waits for it. */
  destroy(): void {
    this.#checked.destroy()
  }
}

/** Servers demand these fields. */
const client_description = {
  application: { name: 'platform' },
  driver: { name: 'nodejs', version: 'platform' },
  os: { type: process.platform },
}

function guardMessages({ messageStream }: MongoConnection): void {
  const guard = new MessageGuard()
  const transform = messageStream._transform.bind(messageStream)
  messageStream._transform = (chunk, encoding, done) => {
    if (guard.accepts(chunk)) transform(chunk, encoding, done)
    else done(notMongo())
  }
}

/** The library computes as many rounds as the server demands, in threads that the service needs. */
function guardProof(connection: MongoConnection): void {
  const command = connection.command.bind(connection)
  connection.command = async (...words) => {
    const answer = await command(...words)
    const begun = answer.speculativeAuthenticate as Readonly<Record<string, unknown>> | undefined
    for (const payload of [answer.payload, begun?.payload]) {
      const { buffer } = (payload ?? {}) as { readonly buffer?: unknown }
      const text = buffer instanceof Uint8Array ? Buffer.from(buffer).toString('latin1') : ''
      const rounds = text.split(',').filter((part) => part.startsWith('i='))
      if (rounds.some((part) => Number.parseInt(part.slice(2), 10) > max_rounds))
        throw new RowSourceError(`the server demands more than ${max_rounds} rounds of the proof of the secret`)
    }
    return answer
  }
}

/** Throws `RowSourceError`, and the reason of the signal. */
export async function within<T>(...wait: Parameters<typeof waitWithin<T>>): Promise<T> {
  try {
    return await waitWithin(...wait)
  } catch (error) {
    wait[3].throwIfAborted()
    throw describeMongoError(error)
  }
}
