// Keeps the tool servers of the site registered under their names, with what is wrong with them, and ends idle ones.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { registrationTotal } from '../metrics.ts'
import type { ServiceInfoReading } from '../parts.ts'
import { services } from '../registered-service/model.ts'
import { registerService } from '../registration/register-service.ts'
import { settings } from '../settings.ts'
import { type StdioServerSettings, stdioServerUrl } from '../stdio-server/model.ts'
import { stdioServersPart } from '../stdio-server/parts.ts'

/** A registration ends soon after the last gateway that runs the server. */
const renew_ms = 20_000
const lifetime_s = 60

export const keepStdioServers: Worker = { name: 'keep-stdio-servers', when: { every_ms: 1_000 }, run }

async function run(call: Call): Promise<void> {
  const { stdio_servers } = call.settings(settings)
  for (const [name, server] of Object.entries(stdio_servers)) await keepRegistered(call, name, server)
  await call.part(stdioServersPart).endIdle()
}

async function keepRegistered(call: Call, name: string, server: StdioServerSettings): Promise<void> {
  const { rounds, troubleOf } = call.part(stdioServersPart)
  const trouble = troubleOf(name)
  const last = rounds.get(name)
  const now = call.monotonic()
  if (last && now - last.at_ms < renew_ms && last.trouble === trouble) return
  const isKnown = (await call.store(services).find(name)) !== undefined
  const answer = await registerService(
    call,
    {
      ...{ name, url: stdioServerUrl(name, server), component_kind: 'library', source: 'stdio' },
      ...{ ttl_seconds: lifetime_s, subject: call.caller.subject },
    },
    async () => describeServer(name, isKnown ? trouble : undefined),
  )
  rounds.set(name, { at_ms: now, trouble: isKnown ? trouble : undefined })
  if (!isRefusal(answer)) return call.count(registrationTotal, { outcome: answer.outcome })
  if (last) return
  const { trace_id } = call.trace
  call.log.warn('gateway.stdio_server.unregistered', { trace_id, service: name, reason: answer.message })
}

/** Only a server that is registered can have the reason why it does not work. */
function describeServer(name: string, trouble: string | undefined): ServiceInfoReading {
  return trouble === undefined ? { value: { name } } : { fault: 'service_unreachable', reason: trouble }
}
