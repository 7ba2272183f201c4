// The terms under which the records of a folder are registered: those of the profile, which are its authority.
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { completeLabel, type Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { type ArrivalTarget, findArrivalTarget } from '../arrival/store-arrival.ts'
import { settings } from '../settings.ts'
import { type ArrivalFolder, folderSubject } from './folder-setting.ts'

export type FolderTerms = {
  readonly tenant_id: string
  readonly node_id: string
  readonly lens: string
  readonly label: Label
}

/** `person`: a call of the folder, confined to its tenant and clearance. */
export type OpenedFolder = { readonly person: Call; readonly target: ArrivalTarget; readonly terms: FolderTerms }

/**
 * `call`: of the service. The clearance is that of the label of the records: answers lie in the folder, where no label protects
 * them.
 */
export async function openFolder(call: Call, folder: ArrivalFolder): Promise<OpenedFolder | Refusal> {
  const { site } = call
  const tenant_id = folder.tenant_id ?? site.tenant_id
  const clearance = completeLabel(folder.classification ?? site.default_level, site.labels, tenant_id)
  if (!clearance) return refuse('invalid', 'the classification of this folder is not in the label policy of this site')
  const { level, categories } = clearance
  const party = { subject: folderSubject(folder.name), tenant_id, clearance: { level, categories } }
  const person = call.openConfinedCall(party)
  const target = await findArrivalTarget(person, { lens_id: folder.lens }, folder.classification)
  if (isRefusal(target)) return target
  const { trained, label } = target
  return { person, target, terms: { tenant_id, node_id: folder.node_id, lens: trained.run.value.lens, label } }
}

/** Why what was begun under `before` may not go on under the terms of now; undefined where they are the same. */
export function refuseOtherTerms(name: string, before: FolderTerms, now: FolderTerms): Refusal | undefined {
  const others = (['tenant_id', 'node_id', 'lens', 'label'] as const).filter(
    (term) => canonicalJson(before[term]) !== canonicalJson(now[term]),
  )
  return others.length === 0
    ? undefined
    : refuseLost(name, `another ${others.map((term) => termWords[term]).join(', ')}`)
}

const termWords = { tenant_id: 'tenant', node_id: 'node', lens: 'lens', label: 'classification' } as const

/** Refuses records of a folder that the profile no longer has, or has for other records. Throws `unavailable` where that is unknown. */
export async function refuseLostFolder(call: Call, name: string, before: FolderTerms): Promise<Refusal | undefined> {
  const folder = call.settings(settings).arrival_folders.find((each) => each.name === name)
  if (!folder) return refuseLost(name, 'none of this name')
  const opened = await openFolder(call, folder)
  if (isRefusal(opened)) throw refuse('unavailable', opened.message)
  return refuseOtherTerms(name, before, opened.terms)
}

function refuseLost(name: string, has: string): Refusal {
  const message = `the profile no longer has the folder ${name} for these records, but ${has}: drop the file again`
  return refuse('forbidden', message)
}
