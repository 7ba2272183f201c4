// Reclusters the entities of many records in as few steps as their reach allows.
import { isRefusal } from '../../../kernel/error/errors.ts'

/** Reclusters a batch; halves it if it reaches more records than may be reclustered at once. */
export async function reclusterBatch(
  recluster: (seeds: readonly string[]) => Promise<void>,
  seeds: readonly string[],
): Promise<void> {
  try {
    await recluster(seeds)
  } catch (error) {
    if (!isRefusal(error) || error.code !== 'too_large' || seeds.length === 1) throw error
    const half = Math.ceil(seeds.length / 2)
    await reclusterBatch(recluster, seeds.slice(0, half))
    await reclusterBatch(recluster, seeds.slice(half))
  }
}
