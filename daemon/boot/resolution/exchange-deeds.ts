// The deeds of an exchange as a thread does them: what it is given in, what comes of it or why not out.
import { isRefused, type Refused } from '../../kernel/errors.ts'
import type { Deed, Deeds } from '../../roles/resolution/exchange/deeds.ts'
import { linked, soundPoints } from '../../roles/resolution/exchange/rounds.ts'
import { ascending } from '../../roles/resolution/privacy/psi/points.ts'
import { meeting } from '../../roles/resolution/privacy/psi/tags.ts'
import type { Told } from './phases.ts'

/** `folder`: that of the run of the exchange. */
export type Where = { readonly folder: string; readonly data_folder: string | undefined }
export type DeedJob = Where & { readonly deed: Deed; readonly given: unknown }
export type DeedAnswer = { readonly done: unknown } | { readonly refused: Pick<Refused, 'code' | 'message'> }
type Tell = (progress: Told) => void

export type Done<D extends Deed> = Deeds[D][1] | Refused
export type Doers = {
  readonly [D in Deed]: (given: Deeds[D][0], where: Where, tell: Tell) => Done<D> | Promise<Done<D>>
}

const ofSets: Partial<Doers> = {
  sort: ({ items, width }) => ascending(items, width),
  check: soundPoints,
  meet: ({ ours, theirs, width }) => meeting(ours, theirs, width),
  link: (given, _where, tell) =>
    linked(given, (done, total) => tell({ phase: 'match', step: 'compare vectors', done, total })),
}

export async function carryOutDeed({ deed, given, ...where }: DeedJob, tell: Tell): Promise<DeedAnswer> {
  const doers: Partial<Doers> = deed in ofSets ? ofSets : (await import('./record-deeds.ts')).recordDeeds
  const done = await (doers[deed] as (given: unknown, where: Where, tell: Tell) => unknown)(given, where, tell)
  return isRefused(done) ? { refused: { code: done.code, message: done.message } } : { done }
}
