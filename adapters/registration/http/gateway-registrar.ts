// Registers a service with a gateway over HTTP: bounded in time and size, without redirects, at addresses that the rule permits.
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import {
  type RegistrarAnswer,
  registration_path,
  type ServiceRegistrar,
  serviceRegistration,
} from '../../../daemon/shared/service-registration/service-registration.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import { HttpClientError } from '../../platform/http-client/http-client-error.ts'

/** From the first byte sent to the last byte of the answer. */
const timeout_ms = 10_000
const max_answer_bytes = 65_536

export type GatewayRegistrarOptions = {
  /** Base URL of the gateway, without a slash at its end. */
  readonly url: string
  /** Authorities in PEM instead of the machine's. */
  readonly ca?: string | undefined
  readonly rule: AddressRule
}

type GatewayRequest = {
  readonly method: 'POST' | 'DELETE'
  readonly path: string
  readonly token: string
  readonly body?: string
  readonly signal: AbortSignal
}

export function gatewayRegistrar({ url, ca, rule }: GatewayRegistrarOptions): ServiceRegistrar {
  // Of many minutes between two requests, none needs a connection.
  const client = new HttpClient({ rule, ca, connect_timeout_ms: timeout_ms })
  const send = async ({ method, path, token, body, signal }: GatewayRequest): Promise<RegistrarAnswer> => {
    try {
      const response = await client.send(`${url}${path}`, {
        ...{ method, body, signal, limits: { total_ms: timeout_ms } },
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
      })
      return judgeAnswer(response.status, await response.readBytes(max_answer_bytes))
    } catch (error) {
      if (!(error instanceof HttpClientError)) throw error
      if (error.failure === 'too_large') return { failed: 'refused', reason: 'its answer is too large' }
      return { failed: 'unreachable', reason: error.code ?? error.message }
    }
  }
  return {
    register(registration, token, signal) {
      const body = JSON.stringify(serviceRegistration.parse(registration))
      return send({ method: 'POST', path: registration_path, token, body, signal })
    },
    deregister(name, token, signal) {
      const path = `${registration_path}/${encodeURIComponent(name)}`
      return send({ method: 'DELETE', path, token, signal })
    },
  }
}

/** A page of a proxy or of another server must not pass for a registration: a gateway answers with a JSON object, or nothing. */
function judgeAnswer(status: number, body: Buffer): RegistrarAnswer {
  if (status < 200 || status > 299) return { failed: 'refused', reason: `it answered ${status}` }
  const answer = body.length === 0 ? {} : parseJson(body)
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer))
    return { reason: `it answered ${status}` }
  return { failed: 'refused', reason: `it answered ${status} without a JSON object` }
}
