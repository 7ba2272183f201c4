// Histories in simulated time on simulated disks: whatever happens, every message is applied once or stands somewhere
// with its reason, and the audit chains are whole. The other half of the seeds runs beside this one.
import { expect, test, vi } from 'vitest'

vi.mock('node:fs', async (original) => (await import('./file-system.ts')).simulatedFs(await original()))
vi.mock('node:fs/promises', async (original) => (await import('./file-system.ts')).simulatedPromises(await original()))

const { badHistories } = await import('./histories.ts')

test('odd seeds end well', async () => expect(await badHistories(1, 2)).toEqual([]), 1_800_000)
