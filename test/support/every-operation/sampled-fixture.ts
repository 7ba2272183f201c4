// The stage of a walk over all operations: two roles for each permission, and the sample input of each operation.
import { createOperationFixture, type OperationFixture } from './operation-fixture.ts'
import { type OperationSample, operationSamples } from './operation-samples.ts'
import { readStoredState } from './read-stored-state.ts'

export type SampledFixture = {
  readonly world: OperationFixture
  /** By the address of the operation. */
  readonly inputs: ReadonlyMap<string, OperationSample>
  /** The stored state before the walk. */
  readonly before: string[]
}

/** The role with this permission only, or with all the others. */
export function roleOf(kind: 'only' | 'without', permission: string): string {
  return `${kind}_${permission.replace(':', '_')}`
}

export async function createSampledFixture(
  permissions: readonly string[],
  addresses: readonly string[],
  sections: Parameters<typeof createOperationFixture>[0] = {},
): Promise<SampledFixture> {
  const roles = permissions.flatMap((one) => [
    [roleOf('only', one), [one]],
    [roleOf('without', one), permissions.filter((other) => other !== one)],
  ])
  const world = await createOperationFixture({ ...sections, identity: { roles: Object.fromEntries(roles) } })
  const inputs = new Map<string, OperationSample>()
  for (const address of addresses) {
    const sample = await operationSamples[address]?.(world)
    if (sample) inputs.set(address, sample)
  }
  return { world, inputs, before: await readStoredState(world) }
}
