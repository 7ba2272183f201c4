// Writes down what has come from sources, and where a polled one goes on.
import type { Call } from '../../../../kernel/call.ts'
import { tallyPart } from '../parts.ts'
import { intakeSettings } from '../settings.ts'
import { newSource, type StoredSource, signalSources } from './model.ts'
import { sum, type Tallied } from './tally.ts'

/** Acts for every tenant. What could not be written is kept for the next time. */
export async function tallyWritten(call: Call): Promise<void> {
  await call.part(tallyPart).moved(async (name, tallied) => {
    await changed(call, name, tenantOf(call, name), (current) => ({ ...current, ...sum(talliedIn(current), tallied) }))
  })
}

export async function cursorWritten(call: Call, name: string, cursor: string | undefined): Promise<void> {
  await changed(call, name, tenantOf(call, name), ({ cursor: _before, ...current }) => {
    return cursor === undefined ? current : { ...current, cursor }
  })
}

export function talliedIn({ tenant_id: _tenant, label: _label, cursor: _cursor, ...tallied }: StoredSource): Tallied {
  return tallied as Tallied
}

function tenantOf(call: Call, name: string): string {
  const source = call.settings(intakeSettings).sources.find((each) => each.name === name)
  return source?.tenant_id ?? call.site.tenant_id
}

async function changed(
  call: Call,
  name: string,
  tenant_id: string,
  rule: (current: StoredSource) => StoredSource,
): Promise<void> {
  const made = await call.store(signalSources).create(name, rule(newSource(call, tenant_id)))
  if (made !== 'exists') return
  await call.store(signalSources).update(name, ({ value }) => ({ next: rule(value), answer: undefined }))
}
