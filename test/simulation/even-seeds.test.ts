// Histories in simulated time on simulated disks: in each, every message is applied once or stands somewhere
// with its reason, and the audit chains are whole. The other half of the seeds runs beside this one.
import { expect, test, vi } from 'vitest'

vi.mock('node:fs', async (original) => (await import('./simulated-file-system.ts')).createSimulatedFs(await original()))
vi.mock('node:fs/promises', async (original) =>
  (await import('./simulated-file-system.ts')).createSimulatedPromises(await original()),
)

const { findBadHistories } = await import('./histories.ts')

test('even seeds end well', async () => expect(await findBadHistories(2, 2)).toEqual([]), 1_800_000)
