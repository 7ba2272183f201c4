// One good request for each operation of the resolution role.
import { sampleLens } from './resolution-objects.ts'
import type { Samples } from './samples.ts'

export const resolution: Samples = {
  'resolution.lens.create': () => ({ input: { body: sampleLens('2.0.0'), classification: 'SECRET' } }),
  'resolution.lens.get': ({ resolution: { lens } }) => ({ input: { uid: lens } }),
  'resolution.lens-binding.get': ({ resolution: { binding } }) => ({ input: { uid: binding } }),
  'resolution.entity-match.get': ({ resolution: { match } }) => ({ input: { uid: match } }),
  'resolution.entity-cluster.get': ({ resolution: { cluster } }) => ({ input: { uid: cluster } }),
  'resolution.fusion-run.get': ({ resolution: { run } }) => ({ input: { uid: run } }),
}
