// Stores the counts of sources and the cursor of polled ones.
import type { Call } from '../../../kernel/operation/call.ts'
import { sourceTallyPart } from '../signal-intake/parts.ts'
import { intakeSettings } from '../signal-intake/settings.ts'
import { newSignalSource, type SourceCounts, type StoredSignalSource, signalSources } from './model.ts'
import { addCounts } from './source-tally.ts'

/** Stores all counts, for every tenant. Counts that could not be written stay for the next run. */
export async function storeTally(call: Call): Promise<void> {
  await call.part(sourceTallyPart).flush(async (name, tallied) => {
    await updateSource(call, name, tenantOfSource(call, name), (current) => ({
      ...current,
      ...addCounts(countsOfSource(current), tallied),
    }))
  })
}

export async function storeCursor(call: Call, name: string, cursor: string | undefined): Promise<void> {
  await updateSource(call, name, tenantOfSource(call, name), ({ cursor: _before, ...current }) => {
    return cursor === undefined ? current : { ...current, cursor }
  })
}

export function countsOfSource({
  tenant_id: _tenant,
  label: _label,
  cursor: _cursor,
  ...tallied
}: StoredSignalSource): SourceCounts {
  return tallied
}

function tenantOfSource(call: Call, name: string): string {
  const source = call.settings(intakeSettings).sources.find((each) => each.name === name)
  return source?.tenant_id ?? call.site.tenant_id
}

async function updateSource(
  call: Call,
  name: string,
  tenant_id: string,
  rule: (current: StoredSignalSource) => StoredSignalSource,
): Promise<void> {
  const outcome = await call.store(signalSources).create(name, rule(newSignalSource(call, tenant_id)))
  if (outcome !== 'exists') return
  await call.store(signalSources).update(name, ({ value }) => ({ next: rule(value), answer: undefined }))
}
