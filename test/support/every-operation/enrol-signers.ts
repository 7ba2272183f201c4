// Two people with enrolled keys in a stage, made on first use.
import { createEnrolledSigner, type ReleaseSigner } from '../site/release-signers.ts'
import type { OperationFixture } from './operation-fixture.ts'

type SignerPair = { readonly ada: ReleaseSigner; readonly bob: ReleaseSigner }

const enrolledSigners = new WeakMap<OperationFixture, Promise<SignerPair>>()

export function enrolSigners(stage: OperationFixture): Promise<SignerPair> {
  const known = enrolledSigners.get(stage) ?? enrolBoth(stage)
  enrolledSigners.set(stage, known)
  return known
}

async function enrolBoth({ site }: OperationFixture): Promise<SignerPair> {
  return { ada: await createEnrolledSigner(site, 'ada'), bob: await createEnrolledSigner(site, 'bob') }
}
