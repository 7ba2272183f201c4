// Checks that a peer brings in no id that only this site or another peer may make.
import { type Refusal, refuse } from '../../kernel/error/errors.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { listPinnedPeers } from '../pinned-peers/pinned-peers.ts'
import { isReservedFor } from './origin-id.ts'

/** Refuses `invalid`: an object of that other site would find its id taken. */
export async function checkOriginId(call: Call, src: string, id: string): Promise<Refusal | undefined> {
  const peers = await listPinnedPeers(call)
  const others = [call.site.name, ...peers.map(({ name }) => name)].filter((name) => name !== src)
  return others.some((site) => isReservedFor(site, id))
    ? refuse('invalid', `the id ${id} belongs to the objects of another site than its sender`)
    : undefined
}
