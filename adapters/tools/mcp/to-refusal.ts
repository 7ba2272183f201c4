// Turns each failure of the MCP library, of HTTP and of a service into one refusal, with the words of the service cut short.
import {
  InsufficientScopeError,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { isRefusal, type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { inputKinds, inputMethods, refuseUnsupported } from '../../../daemon/kernel/tools/client-input.ts'
import { HttpClientError } from '../../platform/http-client/http-client-error.ts'

/** Characters of a service's own words in a refusal. */
const max_detail_chars = 300

const address_remedy =
  'has an address that is not dialled: public addresses and those of trusted networks are allowed; name another host'

/** `service`: how the refusal names the service. */
export function toRefusal(service: string, error: unknown): Refusal {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    const refused = refusalOf(service, at)
    if (refused) return refused
  }
  return refuse('unavailable', `${service} broke the protocol: ${shorten(error)}`)
}

function refusalOf(service: string, error: Error): Refusal | undefined {
  if (isRefusal(error)) return error
  if (error instanceof HttpClientError) return refusalOfHttp(service, error)
  if (error instanceof UnauthorizedError) return refuse('unauthenticated', `${service} does not accept the token`)
  if (error instanceof InsufficientScopeError)
    return refuse('forbidden', `${service} requires a scope that the token does not have`)
  if (error instanceof SdkHttpError) return refusalOfStatus(service, error)
  if (error instanceof MissingRequiredClientCapabilityError) return refuseUnsupported(service, nameAbilities(error))
  if (error instanceof ProtocolError) return refuse('invalid', `${service} refuses the request: ${shorten(error)}`)
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return refuse('timeout', `${service} did not answer in time`)
  return undefined
}

function nameAbilities({ requiredCapabilities }: MissingRequiredClientCapabilityError): string {
  const kinds = inputKinds.filter((kind) => Object.hasOwn(requiredCapabilities, kind))
  return kinds.map((kind) => inputMethods[kind]).join(' and ') || 'an ability'
}

function refusalOfHttp(service: string, { failure, message }: HttpClientError): Refusal {
  if (failure === 'timeout' || failure === 'idle') return refuse('timeout', `${service} did not answer in time`)
  // Without the address: a stranger who names a host does not learn what the site resolves it to.
  if (failure === 'address') return refuse('forbidden', `${service} ${address_remedy}`)
  if (failure === 'aborted') return refuse('timeout', 'the call was cancelled by its caller')
  return refuse('unavailable', `${service} cannot be reached or broke off: ${message}`)
}

function refusalOfStatus(service: string, error: SdkHttpError): Refusal {
  const { status } = error
  if (status === 401) return refuse('unauthenticated', `${service} does not accept the token`)
  if (status === 403) return refuse('forbidden', `${service} does not permit this token or this host name`)
  if (status === 404) return refuse('not_found', `${service} offers no tools at this path`)
  if (status === 429) return refuse('rate_limited', `${service} limits requests`)
  return refuse('unavailable', `${service} answered ${status}`)
}

function shorten(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.length > max_detail_chars ? `${text.slice(0, max_detail_chars)}…` : text
}
