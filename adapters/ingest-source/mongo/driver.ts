// The connection of MongoDB's driver, without its topologies: a script of its own in the executable, which only threads that read by it load.
// @ts-expect-error The package has types for its entry alone.
import { Binary, Decimal128, ObjectId } from 'mongodb/lib/bson.js'
// @ts-expect-error The same.
import { MongoCredentials } from 'mongodb/lib/cmap/auth/mongo_credentials.js'
// @ts-expect-error The same.
import { ScramSHA1, ScramSHA256 } from 'mongodb/lib/cmap/auth/scram.js'
// @ts-expect-error The same.
import { makeConnection, performInitialHandshake } from 'mongodb/lib/cmap/connect.js'
// @ts-expect-error The same.
import { ns } from 'mongodb/lib/utils.js'

/** A connection that was made over a socket of ours. */
export type MongoConnection = {
  command(namespace: object, body: object, options?: object): Promise<Readonly<Record<string, unknown>>>
  destroy(): void
  readonly hello: Readonly<Record<string, unknown>> | null
  readonly messageStream: { _transform: MessageTransform }
}
export type MessageTransform = (chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void) => void

/** The parts of the library that are used, with their types. */
export type MongoDriver = {
  readonly makeConnection: (options: object, stream: object) => MongoConnection
  readonly performInitialHandshake: (connection: MongoConnection, options: object) => Promise<void>
  /** Of `database.collection`. */
  readonly ns: (name: string) => object
  readonly MongoCredentials: new (options: object) => object
  /** By the names that servers know. */
  readonly proofs: Readonly<Record<string, new () => object>>
  readonly ObjectId: new (hex: string) => object
  readonly Decimal128: new (bytes: Uint8Array) => object
  readonly Binary: new (bytes: Uint8Array, kind: number) => object
}

export const mongoDriver: MongoDriver = {
  ...{ makeConnection, performInitialHandshake, ns, MongoCredentials, ObjectId, Decimal128, Binary },
  proofs: { 'SCRAM-SHA-1': ScramSHA1, 'SCRAM-SHA-256': ScramSHA256 },
}
