// The proof of the user at a broker: SASL PLAIN, or SCRAM by which the secret itself is not sent.
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { open_secret, refused_user } from '../../../daemon/shared/row-source/connection-failure.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { KafkaAccess } from './kafka-access.ts'
import { notKafka } from './kafka-errors.ts'

/** Sends a message of the mechanism, and resolves with that of the broker. */
export type SaslExchange = (message: Buffer) => Promise<Buffer>

const digests = { 'scram-sha-256': 'sha256', 'scram-sha-512': 'sha512' } as const

/** What the mechanism needs, before anything is sent. Throws `RowSourceError`. */
export function checkMechanism({ mechanism, username, password, tls }: KafkaAccess): void {
  if (mechanism === 'none' && (username !== undefined || password !== undefined))
    throw new RowSourceError('the connection has a user and no mechanism to prove it: set mechanism')
  if (mechanism !== 'none' && (username === undefined || password === undefined))
    throw new RowSourceError(`a connection to Kafka by ${mechanism} has a username and a password`)
  if (mechanism === 'plain' && tls === 'off') throw new RowSourceError(open_secret)
}

/** Throws `RowSourceError`. */
export async function proveUser(access: KafkaAccess, exchange: SaslExchange): Promise<void> {
  const { mechanism, username = '', password = '' } = access
  checkMechanism(access)
  if (mechanism === 'plain') await exchange(Buffer.from(`\0${username}\0${password}`))
  else if (mechanism !== 'none') await proveByScram(digests[mechanism], username, password, exchange)
}

/** RFC 7677. More rounds keep a thread for long: Kafka has 4,096, and 16,384 at most. */
const rounds = { min: 4_096, max: 1_000_000 }
const derive = promisify(pbkdf2)

/** RFC 5802, without a binding to the channel. */
async function proveByScram(
  digest: 'sha256' | 'sha512',
  username: string,
  password: string,
  exchange: SaslExchange,
): Promise<void> {
  const hmac = (key: Buffer, text: string | Buffer) => createHmac(digest, key).update(text).digest()
  const nonce = randomBytes(24).toString('base64url')
  const name = username.replaceAll('=', '=3D').replaceAll(',', '=2C')
  const first = `n=${name},r=${nonce}`
  const challenge = (await exchange(Buffer.from(`n,,${first}`))).toString()
  const { r = '', s = '', i = '' } = readAttributes(challenge)
  const count = Number(i)
  const isBounded = Number.isInteger(count) && count >= rounds.min && count <= rounds.max
  if (!r.startsWith(nonce) || r.length === nonce.length || s === '' || !isBounded) throw notKafka()
  const salted = await derive(password, Buffer.from(s, 'base64'), count, digest === 'sha256' ? 32 : 64, digest)
  const client_key = hmac(salted, 'Client Key')
  const final = `c=biws,r=${r}`
  const transcript = `${first},${challenge},${final}`
  const signature = hmac(createHash(digest).update(client_key).digest(), transcript)
  const proof = client_key.map((byte, at) => byte ^ (signature[at] ?? 0))
  const { v = '', e } = readAttributes(
    (await exchange(Buffer.from(`${final},p=${Buffer.from(proof).toString('base64')}`))).toString(),
  )
  if (e !== undefined) throw new RowSourceError(refused_user)
  const shown = Buffer.from(v, 'base64')
  const expected = hmac(hmac(salted, 'Server Key'), transcript)
  if (shown.length !== expected.length || !timingSafeEqual(shown, expected))
    throw new RowSourceError('the broker does not know the secret of the user itself: it may be another server')
}

function readAttributes(message: string): Readonly<Record<string, string>> {
  const parts = message.split(',').filter((part) => part[1] === '=')
  return Object.fromEntries(parts.map((part) => [part.charAt(0), part.slice(2)]))
}
