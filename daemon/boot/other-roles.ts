// What the other roles of the site do for one call, by operations of theirs: one object for each call, so without closures.
import * as z from 'zod'
import type { Feed, Others, VerifiedStatement } from '../kernel/call.ts'
import type { StatusEvent } from '../kernel/coalition.ts'
import { isRefused, type Refused, refuse } from '../kernel/errors.ts'
import { type Jws, jws, type PublicKey, publicKey, type SignatureType, type Verified } from '../kernel/keys.ts'
import type { Label } from '../kernel/label.ts'
import type { MatchSession, SessionRuling } from '../kernel/match-session.ts'
import type { AnyOperation } from '../kernel/operation.ts'
import type { Trace } from '../kernel/trace.ts'
import type { Outgoing } from '../kernel/transport.ts'
import { tell } from '../roles/site/coalition/tell.ts'
import { list as listKeys } from '../roles/site/key/list.ts'
import { verifiedMessage } from '../roles/site/message/model.ts'
import { send } from '../roles/site/message/send.ts'
import { verify } from '../roles/site/message/verify.ts'
import { crossing } from '../roles/site/peer/crossing.ts'
import { create as sign } from '../roles/site/signature/create.ts'
import type { Ask } from './asking.ts'

const keyList = z.object({ items: z.array(publicKey) })
const verifiedStatement = verifiedMessage.required({ label: true, transport: true })
const toldCoalition = z.object({ told: z.boolean(), reason: z.string() })
const crossed = z.object({ allowed: z.boolean(), reason: z.string() })

/** Loaded by the role that reads them, where it runs. */
const feeds: Readonly<Record<Feed, () => Promise<{ readonly list: AnyOperation }>>> = {
  dissent: () => import('../roles/consensus/dissent/list.ts'),
  quarantine: () => import('../roles/site/quarantine/list.ts'),
  channel: () => import('../roles/site/channel/list.ts'),
}

export class OtherRoles implements Others {
  readonly #ask: Ask
  readonly #trace: Trace

  constructor(ask: Ask, trace: Trace) {
    this.#ask = ask
    this.#trace = trace
  }

  ask(operation: AnyOperation, input: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.#ask(operation, input, this.#trace)
  }

  async feed(of: Feed, query: Readonly<Record<string, string | number>>): Promise<unknown> {
    const { list } = await feeds[of]()
    return this.ask(list, query)
  }

  async sign(type: SignatureType, payload: Uint8Array): Promise<Jws> {
    return jws.parse(await this.ask(sign, { type, payload: Buffer.from(payload).toString('base64url') }))
  }

  async publicKeys(): Promise<readonly PublicKey[]> {
    return keyList.parse(await this.ask(listKeys, { use: 'message' })).items
  }

  async verifyFromPeer(peer: string, type: SignatureType, envelope: Jws): Promise<Verified | Refused> {
    const found = await orRefused(this.ask(verify, { peer, type, envelope }))
    return isRefused(found) ? found : verifiedIn(verifiedMessage.parse(found))
  }

  async verifyStatement(peer: string, envelope: Jws): Promise<VerifiedStatement | Refused> {
    const found = await orRefused(this.ask(verify, { peer, type: 'statement', envelope }))
    if (isRefused(found)) return found
    const message = verifiedStatement.parse(found)
    const { label, label_map, transport, is_label_released = false } = message
    return { ...verifiedIn(message), label, label_map, transport, is_label_released }
  }

  async send(message: Outgoing): Promise<void> {
    await this.ask(send, message)
  }

  async mayCross(name: string, label: Label): Promise<Refused | undefined> {
    const { allowed, reason } = crossed.parse(await this.ask(crossing, { name, label }))
    return allowed ? undefined : refuse('label_denied', `it may not go to ${name}: ${reason}`)
  }

  async tellCoalition(event: StatusEvent, label: Label): Promise<Refused | undefined> {
    const { told, reason } = toldCoalition.parse(await this.ask(tell, { ...event, label }))
    return told ? undefined : refuse('label_denied', `the coalition may not be told: ${reason}`)
  }

  /** Few sites put matches to sessions: these operations are loaded when one does. */
  async openSession(session: MatchSession): Promise<Refused | undefined> {
    const { open } = await import('../roles/consensus/session/open.ts')
    const opened = await orRefused(this.ask(open, session))
    return isRefused(opened) ? opened : undefined
  }

  async ruleMatch(ruling: SessionRuling): Promise<Refused | undefined> {
    const { rule } = await import('../roles/resolution/entity-match/rule.ts')
    const ruled = await orRefused(this.ask(rule, ruling))
    return isRefused(ruled) ? ruled : undefined
  }
}

function verifiedIn({ payload, keys }: { payload: string; keys: PublicKey[] }): Verified {
  return { payload: new Uint8Array(Buffer.from(payload, 'base64url')), keys }
}

async function orRefused(asked: Promise<unknown>): Promise<unknown | Refused> {
  try {
    return await asked
  } catch (error) {
    if (isRefused(error) && !error.row.retryable) return error
    throw error
  }
}
