// Finds the datasets of pipelines that a run names, by what its caller may see, and joins their labels with that of the run.
import { type FieldError, isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { joinLabels, type Label } from '../../../kernel/label/label.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { platformSettings } from '../../../kernel/settings/platform-settings.ts'
import { findTaskDataset } from '../../../shared/task-dataset/task-dataset.ts'
import type { RequestedSource } from './node-data.ts'
import type { RunSource } from './run-source.ts'

export type LocatedSources = { readonly sources: RunSource[]; readonly label: Label }

const refused = (faults: FieldError[]) => refuse('invalid', 'the run cannot be started', faults)

/** `label`: that of the run without its datasets, which may only raise it. */
export async function locateDatasets(
  call: Call,
  requested: readonly RequestedSource[],
  label: Label,
): Promise<LocatedSources | Refusal> {
  const faults: FieldError[] = []
  const sources: RunSource[] = []
  let joined: Label | undefined = label
  for (const { requested: dataset, ...source } of requested) {
    if (!dataset) {
      sources.push(source)
      continue
    }
    const found = await findDataset(call, dataset)
    if (isRefusal(found)) {
      faults.push({ path: `node_data.${source.node_id}`, message: found.message })
      continue
    }
    sources.push({ ...source, dataset: { ...dataset, name: found.name, digest: found.digest } })
    joined = joined && joinLabels(joined, found.label, call.site.labels)
  }
  if (faults.length > 0) return refused(faults)
  if (!joined) return refuse('label_denied', 'a dataset is labelled under another policy than the run')
  const resolved = joined === label ? label : resolveClassification(call, joined)
  return isRefusal(resolved) ? resolved : { sources, label: resolved }
}

async function findDataset(call: Call, dataset: NonNullable<RequestedSource['requested']>) {
  if (!call.settings(platformSettings).roles.includes('ingest'))
    return refuse('not_found', "this site's profile has no role ingest, which keeps the datasets of pipelines")
  return await findTaskDataset(call.delegation(), dataset)
}
