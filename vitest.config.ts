// Says which tests run together: everything small side by side, then the suites that start real daemons, one by one.
import { defineConfig } from 'vitest/config'

/** Suites that start the packaged executable, take ports or measure: alone, after all others. */
const serial = ['admin', 'binary', 'openapi', 'profiles', 'sites'].map((folder) => `test/${folder}/**/*.test.ts`)

/** Adapters against real servers, which each file starts for itself: alone too, and last. */
const engines = ['test/engines/**/*.test.ts']

/** Long, since a busy machine is slow: what never comes true costs a minute, and what does is waited for no longer than it takes. */
const timeouts = {
  testTimeout: 120_000,
  // Also to remove folders of a hundred thousand files.
  hookTimeout: 300_000,
  teardownTimeout: 30_000,
  expect: { poll: { timeout: 60_000 } },
}

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{cli,daemon,adapters,profiles,scripts,test}/**/*.test.{ts,tsx}'],
          exclude: ['**/node_modules/**', 'dist/**', ...serial, ...engines],
          pool: 'forks',
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
          ...timeouts,
        },
      },
      {
        test: {
          name: 'packaged',
          include: serial,
          pool: 'forks',
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          ...timeouts,
        },
      },
      {
        test: {
          name: 'engines',
          include: engines,
          pool: 'forks',
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          ...timeouts,
        },
      },
    ],
  },
})
