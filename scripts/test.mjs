// Runs every check to its end, so that one run shows all failures, and prints the counts in the last line. Runs the short
// tier by default, every tier with `--all`, or the tests of named files and folders.
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
process.chdir(root)
// Tests that start programs by name must find those of this project, including its Node.
const env = { ...process.env, PATH: `${path.join(root, 'node_modules/.bin')}${path.delimiter}${process.env.PATH}` }

/** Checks besides the tests; each failure counts as one failed test. */
const checks = [
  ['type check', 'tsc', []],
  ['lint', 'biome', ['check', '--error-on-warnings', '.']],
  ['build', process.execPath, ['scripts/build.mjs', '--if-stale']],
]

const failures = checks.filter(([name, command, args]) => {
  const isFailed = run(command, args) !== 0
  if (isFailed) console.error(`FAILED: ${name}`)
  return isFailed
}).length
const words = process.argv.slice(2)
const isWhole = words.includes('--all')
const names = words.filter((word) => word !== '--all')
if (isWhole) env.SIMULATED_HISTORIES ??= '1000'

/**
 * Stages of tiers, in order. Tiers of one stage run in parallel, each in its own worker: sites of the packaged executable
 * leave a core to the real servers. Measurements run alone.
 */
const stages = isWhole && names.length === 0 ? [['short'], ['thorough'], ['packaged', 'engines'], ['measuring']] : [[]]
const tests = { passed: 0, failed: 0, skipped: 0 }
for (const stage of stages) {
  const runs =
    stage.length > 0 ? stage.map((tier) => [`--project=${tier}`]) : [names.length > 0 ? names : ['--project=short']]
  for (const counts of await Promise.all(runs.map((selection) => runTests(selection, runs.length === 1))))
    for (const [result, count] of Object.entries(counts)) tests[result] += count
}
const failed = tests.failed + failures
const skipped = tests.skipped > 0 ? `, ${tests.skipped} skipped` : ''
console.log(`${tests.passed} passed, ${failed} failed${skipped}`)
process.exitCode = failed === 0 ? 0 : 1

/** `isAlone`: prints the output at once; otherwise at the end, so that parallel runs do not mix their lines. */
async function runTests(selection, isAlone) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'platform-test-'))
  const log = path.join(folder, 'output.log')
  const output = isAlone ? 'inherit' : fs.openSync(log, 'w')
  try {
    const file = path.join(folder, 'report.json')
    const child = spawn('vitest', ['run', ...selection], {
      env: { ...env, TEST_REPORT_FILE: file },
      stdio: ['ignore', output, output],
    })
    const status = await new Promise((resolve) => {
      child.once('error', (error) => {
        console.error(error.message)
        resolve(1)
      })
      child.once('exit', (code) => resolve(code ?? 1))
    })
    if (!isAlone) process.stdout.write(fs.readFileSync(log))
    return count(file, status)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Counts the results. A file that cannot be loaded has no tests in the report, and errors outside tests are not in it; both
 * change the status of the file or of the run, and count as one failure.
 */
function count(file, status) {
  if (!fs.existsSync(file)) return { passed: 0, failed: 1, skipped: 0 }
  const report = JSON.parse(fs.readFileSync(file, 'utf8'))
  const isUnexplained = (result) =>
    result.status === 'failed' && !result.assertionResults.some((test) => test.status === 'failed')
  const failed = report.numFailedTests + report.testResults.filter(isUnexplained).length
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { env, stdio: 'inherit' })
  if (error) console.error(error.message)
  return status ?? 1
}
