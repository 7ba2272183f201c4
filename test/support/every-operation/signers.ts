// Two people with enrolled keys in a stage, made when they are first asked for.
import { enrolled, type Signer } from '../quarantine-people.ts'
import type { Stage } from './stage.ts'

type Signers = { readonly ada: Signer; readonly bob: Signer }

const made = new WeakMap<Stage, Promise<Signers>>()

export function signers(stage: Stage): Promise<Signers> {
  const known = made.get(stage) ?? enrolBoth(stage)
  made.set(stage, known)
  return known
}

async function enrolBoth({ site }: Stage): Promise<Signers> {
  return { ada: await enrolled(site, 'ada'), bob: await enrolled(site, 'bob') }
}
