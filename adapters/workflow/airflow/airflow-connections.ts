// Connections at Airflow, where tasks on its workers find them: the code of every DAG file reads them by the same names.
import { isRefusal, type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import type {
  SchedulerConnection,
  SchedulerConnections,
} from '../../../daemon/shared/workflow-scheduler/workflow-scheduler.ts'
import { type AirflowClient, interfacePath } from './airflow-client.ts'
import type { AirflowVersion } from './generation.ts'

/** Airflow has 5,000 characters for a password that it has encrypted, as base64 of somewhat more bytes. */
const max_secret_bytes = 3_600

/** In place of a secret that is not set: Airflow takes no empty password for one that it has. */
const no_secret = '{}'

export class AirflowConnections implements SchedulerConnections {
  readonly #call: Call
  readonly #client: AirflowClient
  readonly #version: AirflowVersion

  constructor(call: Call, client: AirflowClient, version: AirflowVersion) {
    this.#call = call
    this.#client = client
    this.#version = version
  }

  async put(connection: SchedulerConnection): Promise<undefined | Refusal> {
    const { secret = no_secret } = connection
    if (Buffer.byteLength(secret) > max_secret_bytes)
      return refuse('invalid', `Airflow keeps secrets of at most ${max_secret_bytes} bytes`)
    const body = renderConnection(connection, secret)
    const changed = await this.#change(body, secret)
    if (changed !== 'unknown') return changed
    const made = await this.#client.request(this.#call, { method: 'POST', path: this.#path(), body, secret })
    // Made by another request meanwhile.
    if (isRefusal(made) && made.code === 'wrong_state') return refuseUnknown(await this.#change(body, secret))
    return isRefusal(made) ? made : undefined
  }

  async remove(id: string): Promise<undefined | Refusal> {
    const answer = await this.#client.request(this.#call, { method: 'DELETE', path: this.#path(nameOf(id)) })
    return isRefusal(answer) ? answer : undefined
  }

  async #change(body: ReturnType<typeof renderConnection>, secret: string): Promise<undefined | Refusal | 'unknown'> {
    const path = this.#path(body.connection_id)
    const answer = await this.#client.request(this.#call, { method: 'PATCH', path, body, secret })
    return isRefusal(answer) ? answer : answer ? undefined : 'unknown'
  }

  #path(...parts: readonly string[]): string {
    return interfacePath(this.#version, 'connections', ...parts)
  }
}

function nameOf(id: string): string {
  return `platform_${id}`
}

/** `extra` is shown to those who may read connections at Airflow; the password is shown to nobody. */
function renderConnection({ id, conn_type, config }: SchedulerConnection, secret: string) {
  return {
    ...{ connection_id: nameOf(id), conn_type: 'generic', description: `Made by platform: ${conn_type}` },
    ...{ password: secret, extra: JSON.stringify({ conn_type, config }) },
  }
}

function refuseUnknown(changed: undefined | Refusal | 'unknown'): undefined | Refusal {
  return changed === 'unknown'
    ? refuse('unavailable', 'the connection was removed meanwhile: repeat the request')
    : changed
}
