// Stores sets of data as pieces that fit a message, and loads complete sets. Ids are derived, so a repeat stores
// nothing.

import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { exchangePieces, type StoredPiece } from '../model.ts'

/** Small, since a page contains whole pieces. */
const drop_batch_size = 16

export function pieceId(exchange_id: string, from: string, set: string, number: number): string {
  return `${exchange_id}.${from}.${set}.${number}`
}

type PieceSetKey = Pick<StoredPiece, 'tenant_id' | 'exchange_id' | 'from' | 'what'>

/** Stores a set; pieces already stored stay as they are. Durable when it resolves. */
export async function storePieces(
  call: Call,
  set: PieceSetKey,
  items: number,
  pieces: readonly string[],
): Promise<void> {
  for (const [number, data] of pieces.entries()) {
    const id = pieceId(set.exchange_id, set.from, set.what, number)
    await call.store(exchangePieces).create(id, { ...set, number, of: pieces.length, items, data })
  }
}

/** Loads all pieces of a set in order; undefined while one is missing. */
export async function loadPieces(
  call: Call,
  exchange_id: string,
  from: string,
  set: string,
): Promise<readonly StoredPiece[] | undefined> {
  const store = call.store(exchangePieces)
  const first = await store.find(pieceId(exchange_id, from, set, 0))
  if (!first) return undefined
  const pieces = [first.value]
  for (let number = 1; number < first.value.of; number++) {
    call.signal.throwIfAborted()
    const next = await store.find(pieceId(exchange_id, from, set, number))
    if (!next) return undefined
    pieces.push(next.value)
  }
  return pieces
}

export async function loadBytes(
  call: Call,
  exchange_id: string,
  from: string,
  set: string,
): Promise<Uint8Array | undefined> {
  const pieces = await loadPieces(call, exchange_id, from, set)
  return pieces && new Uint8Array(Buffer.concat(pieces.map(({ data }) => Buffer.from(data, 'base64url'))))
}

/** Loads stored rows of records: each piece is a JSON array. */
export async function loadTexts(
  call: Call,
  exchange_id: string,
  from: string,
  set: string,
): Promise<readonly string[] | undefined> {
  return (await loadPieces(call, exchange_id, from, set))?.map(({ data }) => data)
}

/** Removes all pieces of an exchange; two calls may run at the same time. */
export async function dropPieces(call: Call, exchange_id: string): Promise<void> {
  const store = call.store(exchangePieces)
  for (;;) {
    const page = await store.list({ filter: { exchange_id }, limit: drop_batch_size, fresh: true })
    for (const { id } of page.docs) await store.remove(id).catch(ignoreNotFound)
    if (page.next_cursor === undefined) return
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isRefusal(error) || error.code !== 'not_found') throw error
}
