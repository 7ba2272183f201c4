// Input that a tool requests of its client while it works: an answer of a person, or one of the client's model.
import * as z from 'zod'
import { Refusal, refuse } from '../error/errors.ts'

/** The requests that may be passed on, by the ability of a client that takes them. */
export const inputKinds = ['elicitation', 'sampling'] as const
export type InputKind = (typeof inputKinds)[number]

export const inputMethods = { elicitation: 'elicitation/create', sampling: 'sampling/createMessage' } as const

/** How long a tool waits for the input that it has requested: a person answers. */
export const max_input_wait_ms = 600_000

/** Requests of one call that wait at once, and all of a call that a service keeps open. */
export const max_inputs_at_once = 8
export const max_inputs_of_call = 32

/** Characters of the state that a service gives to its client, to have it back with the input. */
export const max_input_state = 65_536

const fields = z.record(z.string(), z.unknown())

/** Its fields say nothing that this program knows. */
const ability = z.object({}).optional()

/** As the protocol names the abilities. Other abilities are not passed on. */
export const clientAbilities = z.object({
  elicitation: z.object({ form: ability, url: ability }).optional(),
  /** Not `context`: a service behind the gateway is not to have that of the others. */
  sampling: z.object({ tools: ability }).optional(),
})
export type ClientAbilities = z.infer<typeof clientAbilities>

/** The abilities of a client without any. */
export const noAbilities: ClientAbilities = {}

/** A program of the client opens it: no address of another kind. */
const isPage = (url: unknown) => typeof url === 'string' && /^https?:\/\/[^/]/i.test(url) && URL.canParse(url)

export const inputRequest = z
  .object({ method: z.enum(Object.values(inputMethods)), params: fields })
  .refine(({ params }) => params.mode !== 'url' || isPage(params.url), 'must have the URL of a page')
/** Texts in it are those of the service: untrusted. */
export type InputRequest = z.infer<typeof inputRequest>

/** By keys that the service chooses, unique among the requests of one result. */
export const inputRequests = z
  .record(z.string().min(1).max(128), inputRequest)
  .refine((requests) => Object.keys(requests).length <= max_inputs_at_once, {
    message: `must be at most ${max_inputs_at_once} requests`,
  })
export type InputRequests = z.infer<typeof inputRequests>

/** Input of the client, by the keys of the requests, and the state that the service gave with them. */
export const callContinuation = z.object({
  responses: z.record(z.string().max(128), fields).default({}),
  state: z.string().max(max_input_state).optional(),
})
/** `refused`: keys of the requests that the client does not answer. */
export type CallContinuation = z.infer<typeof callContinuation> & { readonly refused?: readonly string[] | undefined }

/** The client of a call of a tool. `continuation`: of a call that has requested input before. */
export type ToolClient = {
  readonly abilities: ClientAbilities
  readonly continuation?: CallContinuation | undefined
}

/** Instead of the result of a tool: it goes on once it is called again with the input. */
export class InputRequiredResult {
  readonly requests: InputRequests
  readonly state: string | undefined
  /** Set where the service keeps the call open meanwhile. Without a state it goes on here. */
  readonly held: HeldCall | undefined

  constructor(requests: InputRequests, state: string | undefined, held?: HeldCall) {
    this.requests = requests
    this.state = state
    this.held = held
  }
}

/** Of input for a call that no service keeps open any more: nothing was sent to the service. */
export class UnknownCallRefusal extends Refusal {
  constructor() {
    super('invalid', 'no call waits for this input any more: call the tool again')
  }
}

/** The client lacks an ability, and the service is sound. */
export function refuseUnsupported(service: string, input: string): Refusal {
  const remedy = 'call the tool from a client that does'
  return refuse('invalid', `${service} requires ${input}, which the client of this call does not take: ${remedy}`)
}

/** A call that a service keeps open. It ends by itself after `max_input_wait_ms` without input. */
export interface HeldCall {
  /** Settles with the call, however it ends; never rejects. */
  readonly ended: Promise<void>
  end(): void
}

/** The abilities of the client for which requests are allowed. */
export function limitAbilities(
  { elicitation, sampling }: ClientAbilities,
  kinds: readonly InputKind[],
): ClientAbilities {
  return {
    ...(elicitation && kinds.includes('elicitation') ? { elicitation } : {}),
    ...(sampling && kinds.includes('sampling') ? { sampling } : {}),
  }
}

/** Names the first request that the client cannot take. */
export function findUnsupported(requests: InputRequests, abilities: ClientAbilities): string | undefined {
  return Object.values(requests).find((request) => !isSupported(request, abilities))?.method
}

/** An elicitation without modes is one of forms alone. */
function isSupported({ method, params }: InputRequest, { elicitation, sampling }: ClientAbilities): boolean {
  if (method === inputMethods.sampling)
    return (
      sampling !== undefined && (sampling.tools !== undefined || (!('tools' in params) && !('toolChoice' in params)))
    )
  if (!elicitation) return false
  return params.mode === 'url' ? elicitation.url !== undefined : elicitation.form !== undefined || !elicitation.url
}
