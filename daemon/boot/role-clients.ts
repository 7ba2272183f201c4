// Clients of the other roles of the site for one call; a class, since one object is created for each call.
import * as z from 'zod'
import {
  type Jws,
  jws,
  type PublicKey,
  publicKey,
  type SignatureType,
  type VerifiedPayload,
} from '../kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal, refuse } from '../kernel/error/errors.ts'
import type { Label } from '../kernel/label/label.ts'
import type { OutboundMessage } from '../kernel/messaging/transport.ts'
import type { RoleClients, RoleFeed, VerifiedStatement } from '../kernel/operation/call.ts'
import type { AnyOperation } from '../kernel/operation/operation.ts'
import type { Trace } from '../kernel/telemetry/trace.ts'
import { tell } from '../roles/site/coalition/tell.ts'
import { list as listKeys } from '../roles/site/key/list.ts'
import { verifiedMessage } from '../roles/site/message/model.ts'
import { send } from '../roles/site/message/send.ts'
import { verify } from '../roles/site/message/verify.ts'
import { crossing } from '../roles/site/peer/crossing.ts'
import { create as sign } from '../roles/site/signature/create.ts'
import type { StatusEvent } from '../shared/coalition/hub-protocol.ts'
import type { MatchSession, SessionRuling } from '../shared/match-session/match-session.ts'
import type { RoleCaller } from './role-caller.ts'

const keyList = z.object({ items: z.array(publicKey) })
const verifiedStatement = verifiedMessage.required({ label: true, transport: true })
const publishResponse = z.object({ told: z.boolean(), reason: z.string() })
const crossingResponse = z.object({ allowed: z.boolean(), reason: z.string() })

/** Operations that list feeds, loaded on first use. */
const feedLoaders: Readonly<Record<RoleFeed, () => Promise<{ readonly list: AnyOperation }>>> = {
  dissent: () => import('../roles/consensus/dissent/list.ts'),
  quarantine: () => import('../roles/site/quarantine/list.ts'),
  channel: () => import('../roles/site/channel/list.ts'),
}

export class SiteRoleClients implements RoleClients {
  readonly #request: RoleCaller
  readonly #trace: Trace

  constructor(request: RoleCaller, trace: Trace) {
    this.#request = request
    this.#trace = trace
  }

  request(operation: AnyOperation, input: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.#request(operation, input, this.#trace)
  }

  async feed(feedName: RoleFeed, query: Readonly<Record<string, string | number>>): Promise<unknown> {
    const { list } = await feedLoaders[feedName]()
    return this.request(list, query)
  }

  async sign(type: SignatureType, payload: Uint8Array): Promise<Jws> {
    return jws.parse(await this.request(sign, { type, payload: Buffer.from(payload).toString('base64url') }))
  }

  async publicKeys(): Promise<readonly PublicKey[]> {
    return keyList.parse(await this.request(listKeys, { use: 'message' })).items
  }

  async verifyFromPeer(peer: string, type: SignatureType, envelope: Jws): Promise<VerifiedPayload | Refusal> {
    const response = await refusalAsValue(this.request(verify, { peer, type, envelope }))
    return isRefusal(response) ? response : toVerifiedPayload(verifiedMessage.parse(response))
  }

  async verifyStatement(peer: string, envelope: Jws): Promise<VerifiedStatement | Refusal> {
    const response = await refusalAsValue(this.request(verify, { peer, type: 'statement', envelope }))
    if (isRefusal(response)) return response
    const message = verifiedStatement.parse(response)
    const { label, label_map, transport, is_label_released = false } = message
    return { ...toVerifiedPayload(message), label, label_map, transport, is_label_released }
  }

  async send(message: OutboundMessage): Promise<void> {
    await this.request(send, message)
  }

  async mayCross(name: string, label: Label): Promise<Refusal | undefined> {
    const { allowed, reason } = crossingResponse.parse(await this.request(crossing, { name, label }))
    return allowed ? undefined : refuse('label_denied', `the label does not permit sending to ${name}: ${reason}`)
  }

  async publishStatusEvent(event: StatusEvent, label: Label): Promise<Refusal | undefined> {
    const { told: published, reason } = publishResponse.parse(await this.request(tell, { ...event, label }))
    return published
      ? undefined
      : refuse('label_denied', `the label does not permit reporting to the coalition: ${reason}`)
  }

  /** Loads the operation on first use, since few sites decide matches in sessions. */
  async openSession(session: MatchSession): Promise<Refusal | undefined> {
    const { open } = await import('../roles/consensus/session/open.ts')
    const outcome = await refusalAsValue(this.request(open, session))
    return isRefusal(outcome) ? outcome : undefined
  }

  async applyRuling(ruling: SessionRuling): Promise<Refusal | undefined> {
    const { rule } = await import('../roles/resolution/entity-match/rule.ts')
    const outcome = await refusalAsValue(this.request(rule, ruling))
    return isRefusal(outcome) ? outcome : undefined
  }
}

function toVerifiedPayload({ payload, keys }: { payload: string; keys: PublicKey[] }): VerifiedPayload {
  return { payload: new Uint8Array(Buffer.from(payload, 'base64url')), keys }
}

async function refusalAsValue(pending: Promise<unknown>): Promise<unknown | Refusal> {
  try {
    return await pending
  } catch (error) {
    if (isRefusal(error) && !error.row.retryable) return error
    throw error
  }
}
