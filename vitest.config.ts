// Assigns tests to tiers, and lets some run side by side; docs/testing.md explains the tiers.
import { defineConfig } from 'vitest/config'
import { NODE_COMPILE_CACHE } from './test/support/command/run-command-process.ts'
import { type TimeBudget, TimeReport } from './test/support/runner/time-report.ts'

/** The one federation of packaged sites that the short tier has. */
const shortFederation = 'test/sites/demo.test.ts'

/** Suites that start the packaged executable several times a test: one file after the other, beside `engines` and `longest`. */
const packaged = [
  ...['admin', 'openapi', 'profiles', 'sites'].map((folder) => `test/${folder}/**/*.test.ts`),
  'test/release/{fips-provider,made-bundles}.test.ts',
]

/** Adapters and sites on real servers: one file after the other, beside `packaged` and `longest`. */
const engines = 'test/engines/**/*.test.ts'

/** Files of both that take minutes, and suites of engines that share no server: one file after the other, beside the rest of both. */
const longest = [
  'test/engines/{airflow,cassandra,forward,gitea,grafana,kafka,mcp,prometheus,proxy}/*.test.ts',
  'test/engines/federation/federation.test.ts',
  'test/openapi/*.test.ts',
]

/** In process, and slow by their subject: attacks, floods, time limits, passphrases, crashes at every step, walks, seeded properties. */
const thorough = [
  'adapters/compute/threads/resident-thread.test.ts',
  'adapters/format/csv/csv-{dialect,writer}.test.ts',
  'adapters/format/parquet/parquet.test.ts',
  'adapters/format/pdf/read-pdf.test.ts',
  'adapters/forward/http/{http2-parity,pool-model}.test.ts',
  'daemon/offline/guide/evaluate-traces.test.ts',
  'daemon/roles/gateway/guide/learning/learning-experiment.test.ts',
  'daemon/roles/resolution/engine/found-by.test.ts',
  'daemon/runtime/proxy/threads/thread-supervisor.test.ts',
  'scripts/build-steps/bundle.test.ts',
  'test/attack/**/*.test.ts',
  'test/boot/{doctor,doctor-machine,mtls,roles-fail-alone,site-tenancy,traces}.test.ts',
  'test/cli/{certificates,channel-status,executable,hostile-service,hostile-text,key-sets,missing-folders,peer-settings,printed-lines,resolve-service,root-commands,running-site,site-backup,store-owners,terminal,tools-of-services,wrapped-keys}.test.ts',
  'test/cli/hostile-screens.test.tsx',
  'test/conformance/{every-data-format,every-data-keys,every-forward-flow,every-sandbox,every-tool-service,every-transport,every-workflow-scheduler,walked-schedules}.test.ts',
  'test/declared-errors.test.ts',
  'test/docs/alert-commands.test.ts',
  'test/every-operation.test.ts',
  'test/format/differential.test.ts',
  'test/ingest/{hostile,hostile-queue,hostile-stores,hostile-topic,images,killed,killed-readers,killed-repository,killed-watch,land,old-workbooks,packed-repository,pdf,sharepoint-source,step,step-origin}.test.ts',
  'test/keys/wrapped-key.test.ts',
  'test/mcp/{every-tool,list-changed,profiles,resources}.test.ts',
  'test/metrics.test.ts',
  'test/roles/consensus/{delivery,false-evidence,federation,long-session,session-model}.test.ts',
  'test/roles/intelligence/{bulk-principals,lifecycle-properties}.test.ts',
  'test/roles/ingest/{combine-datasets,connection-pipelines,external-dispatch,failure-signals,failure-signals-airflow,failure-signals-apart,hostile-files,incremental-reads,journey-tests,landing-scanner,landing-zone,lineage-events,notify,pipelines,resolve-run,run-again,run-metrics,run-watches,schedule-ticks,schedules,sent-by-workers,sent-datasets,site-tasks,transforms}.test.ts',
  'test/roles/gateway/hostile-{resources,services,stdio,tools}.test.ts',
  'test/roles/proxy/{outcomes,record-filters,records}.test.ts',
  'test/roles/resolution/*.test.ts',
  'test/roles/site/{dismissals,keyset,releases}.test.ts',
  'test/reports/report-commands.test.ts',
  'test/resolution/{classes,entity-origin,explain-records,lenses,match,quality,report,results,time-limit,value-tables}.test.ts',
  'test/secrets/{canary,wrapping-keys}.test.ts',
  'test/serve/shared-*.test.ts',
  'test/simulation/bulks/bulks.test.ts',
  'test/simulation/guide/artifacts.test.ts',
  'test/simulation/{jobs/jobs,readings/readings,schedules/schedules}.test.ts',
  'test/store/durability.test.ts',
  'test/worst-inputs.test.ts',
  'test/transport/coalition/hostile.test.ts',
  'test/transport/filedrop/{acknowledgements,crash,disk-full,inventories,power-cut,replaced-folders,resend}.test.ts',
  'test/transport/filedrop/{courier/*,epochs/received-epochs,hostile/*,quarantine/quarantine}.test.ts',
]

/**
 * Of the short tier: files that change what all files of a process share: modules, clocks, sockets that clients keep. Each has a process
 * of its own. The others share the modules of two processes, which take longer to load than most of these files to run.
 */
const alone = ['test/boot/role-calls.test.ts', 'test/simulation/{even-seeds,judge,odd-seeds}.test.ts']

/** Measures of memory or time, and tests that saturate the machine: alone, after everything else. */
const measuring = [
  'adapters/format/*/*-memory.test.ts',
  'test/binary/**/*.test.ts',
  'test/engines/**/memory.test.ts',
  'test/sites/**/*-soak.test.ts',
]

/** The shares of a run of every tier on two cores, with some room. */
export const timeBudget: TimeBudget = {
  'test/attack': 3,
  'test/engines': 40,
  'test/sites': 35,
  'test/roles': 8,
  'test/transport': 6,
  'test/profiles': 5,
  'test/openapi': 5,
  'test/simulation': 4,
  'test/cli': 3,
  other: 9,
}

/** Threads and processes that tests start from the sources take what Node made of these before. */
process.env.NODE_COMPILE_CACHE ??= NODE_COMPILE_CACHE

/**
 * Threads of roles strip the types of their sources by WebAssembly. Its calls to JavaScript, once compiled, can end the
 * process after the end of another such thread (a check of V8 13.6, `jit_page.has_value()`), so they stay interpreted.
 * In the executable no thread calls JavaScript from WebAssembly.
 */
const execArgv = ['--wasm-wrapper-tiering-budget=2147483647']

/** Long, since a busy machine is slow: a condition that never holds costs a minute, one that holds costs no more than its time. */
const common = {
  pool: 'forks' as const,
  execArgv,
  testTimeout: 120_000,
  // Also to remove folders of a hundred thousand files.
  hookTimeout: 300_000,
  teardownTimeout: 30_000,
  expect: { poll: { timeout: 60_000 } },
}

/** `scripts/test` names a file that takes the results. */
const reportFile = process.env.TEST_REPORT_FILE
const asJson: ['json', { outputFile: string }][] = reportFile ? [['json', { outputFile: reportFile }]] : []

const outside = ['**/node_modules/**', 'dist/**']

export default defineConfig({
  test: {
    reporters: ['default', ...asJson, new TimeReport(timeBudget)],
    projects: [
      {
        test: {
          name: 'short',
          include: ['{cli,daemon,adapters,packages,profiles,scripts,test}/**/*.test.{ts,tsx}', shortFederation],
          exclude: [
            ...outside,
            ...packaged.filter((files) => !files.includes('sites')),
            'test/sites/!(demo).test.ts',
            'test/sites/*/**/*.test.ts',
            engines,
            ...measuring,
            ...alone,
            ...thorough,
          ],
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
          ...common,
        },
      },
      {
        test: {
          name: 'short-alone',
          include: alone,
          exclude: outside,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
          ...common,
        },
      },
      {
        test: {
          name: 'thorough',
          include: thorough,
          exclude: outside,
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          ...common,
        },
      },
      {
        test: {
          name: 'packaged',
          include: packaged,
          exclude: [...outside, shortFederation, ...longest, ...measuring],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          ...common,
        },
      },
      {
        test: {
          name: 'engines',
          globalSetup: 'test/support/engines/shared-servers.ts',
          include: [engines],
          exclude: [...outside, ...longest, ...measuring],
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
          ...common,
        },
      },
      {
        test: {
          name: 'longest',
          globalSetup: 'test/support/engines/shared-servers.ts',
          include: longest,
          exclude: outside,
          maxWorkers: 1,
          sequence: { groupOrder: 4 },
          ...common,
        },
      },
      {
        test: {
          name: 'measuring',
          include: measuring,
          exclude: outside,
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 5 },
          ...common,
        },
      },
    ],
  },
})
