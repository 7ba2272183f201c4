// What the other roles of the site do for one call, by operations of theirs: one object for each call, so without closures.
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

/** Loaded by the role that reads them, where it runs. */
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

  async feed(of: RoleFeed, query: Readonly<Record<string, string | number>>): Promise<unknown> {
    const { list } = await feedLoaders[of]()
    return this.request(list, query)
  }

  async sign(type: SignatureType, payload: Uint8Array): Promise<Jws> {
    return jws.parse(await this.request(sign, { type, payload: Buffer.from(payload).toString('base64url') }))
  }

  async publicKeys(): Promise<readonly PublicKey[]> {
    return keyList.parse(await this.request(listKeys, { use: 'message' })).items
  }

  async verifyFromPeer(peer: string, type: SignatureType, envelope: Jws): Promise<VerifiedPayload | Refusal> {
    const found = await refusalAsValue(this.request(verify, { peer, type, envelope }))
    return isRefusal(found) ? found : toVerifiedPayload(verifiedMessage.parse(found))
  }

  async verifyStatement(peer: string, envelope: Jws): Promise<VerifiedStatement | Refusal> {
    const found = await refusalAsValue(this.request(verify, { peer, type: 'statement', envelope }))
    if (isRefusal(found)) return found
    const message = verifiedStatement.parse(found)
    const { label, label_map, transport, is_label_released = false } = message
    return { ...toVerifiedPayload(message), label, label_map, transport, is_label_released }
  }

  async send(message: OutboundMessage): Promise<void> {
    await this.request(send, message)
  }

  async mayCross(name: string, label: Label): Promise<Refusal | undefined> {
    const { allowed, reason } = crossingResponse.parse(await this.request(crossing, { name, label }))
    return allowed ? undefined : refuse('label_denied', `it may not go to ${name}: ${reason}`)
  }

  async publishStatusEvent(event: StatusEvent, label: Label): Promise<Refusal | undefined> {
    const { told, reason } = publishResponse.parse(await this.request(tell, { ...event, label }))
    return told ? undefined : refuse('label_denied', `the coalition may not be told: ${reason}`)
  }

  /** Few sites put matches to sessions: these operations are loaded when one does. */
  async openSession(session: MatchSession): Promise<Refusal | undefined> {
    const { open } = await import('../roles/consensus/session/open.ts')
    const opened = await refusalAsValue(this.request(open, session))
    return isRefusal(opened) ? opened : undefined
  }

  async applyRuling(ruling: SessionRuling): Promise<Refusal | undefined> {
    const { rule } = await import('../roles/resolution/entity-match/rule.ts')
    const ruled = await refusalAsValue(this.request(rule, ruling))
    return isRefusal(ruled) ? ruled : undefined
  }
}

function toVerifiedPayload({ payload, keys }: { payload: string; keys: PublicKey[] }): VerifiedPayload {
  return { payload: new Uint8Array(Buffer.from(payload, 'base64url')), keys }
}

async function refusalAsValue(asked: Promise<unknown>): Promise<unknown | Refusal> {
  try {
    return await asked
  } catch (error) {
    if (isRefusal(error) && !error.row.retryable) return error
    throw error
  }
}
