// Runs every check to its end, lists the failures, and counts them in one last line. Without arguments it runs the short tier
// of tests, with `--all` every tier, with names of files or folders the tests of those.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const root = path.resolve(import.meta.dirname, '..')
process.chdir(root)
// Programs that tests start by name must be those of this project, and its Node.
const env = { ...process.env, PATH: `${path.join(root, 'node_modules/.bin')}${path.delimiter}${process.env.PATH}` }

/** Checks that are one claim each; a failing one counts as one failed test. */
const checks = [
  ['type check', 'tsc', []],
  ['lint', 'biome', ['check', '--error-on-warnings', '.']],
  ['build', process.execPath, ['scripts/build.mjs', '--if-stale']],
]

/** One line for each failure, printed last: a log that is cut to its end still names them. */
const failureLines = []
const checked = await Promise.all(
  checks.map(async ([name, command, args]) => ({ name, status: await run(command, args) })),
)
for (const { name, status } of checked) if (status !== 0) failureLines.push(name)
let failed = failureLines.length
const words = process.argv.slice(2)
const isWhole = words.includes('--all')
const names = words.filter((word) => word !== '--all')
if (isWhole) env.SIMULATED_HISTORIES ??= '200'

const isEveryTier = isWhole && names.length === 0
/**
 * Stages of tiers, in order. Tiers of one stage run beside each other, each in a worker of its own: sites of the packaged
 * executable leave a core to the real servers, and the longest suites mostly wait. A measurement has the machine to itself.
 */
const stages = isEveryTier ? [['short*'], ['thorough'], ['packaged', 'engines', 'longest'], ['measuring']] : [[]]
/** Tiers whose files run servers and daemons of their own: a few of their files that fail are run once more, and named. */
const repeated_tiers = ['packaged', 'engines', 'longest']
const max_repeated_files = 2
const repeatedLines = []
let passed = 0
let skipped = 0
const times = []
for (const stage of stages) {
  const runs =
    stage.length > 0 ? stage.map((tier) => [`--project=${tier}`]) : [names.length > 0 ? names : ['--project=short*']]
  const results = await Promise.all(runs.map((selection) => runTests(selection, runs.length === 1)))
  if (stage.some((tier) => repeated_tiers.includes(tier))) await repeatFailedFiles(results)
  for (const result of results) {
    passed += result.passed
    failed += result.failed
    skipped += result.skipped
    failureLines.push(...result.failureLines)
    times.push(...result.times)
  }
}
if (times.length > 0) {
  const { formatTimeReport } = await import('../test/support/runner/time-report.ts')
  const { timeBudget } = await import('../vitest.config.ts')
  console.log(`${formatTimeReport(times, timeBudget, true).join('\n')}\n`)
}
for (const line of repeatedLines) console.log(`FAILED ONCE, PASSED ALONE: ${line}`)
for (const line of failureLines) console.log(`FAILED: ${line}`)
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed === 0 ? 0 : 1

/** Output of a run with `isAlone` appears at once, else when the run has ended, so that two runs do not mix their lines. */
async function runTests(selection, isAlone) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'platform-test-'))
  const log = path.join(folder, 'output.log')
  const output = isAlone ? 'inherit' : fs.openSync(log, 'w')
  try {
    const file = path.join(folder, 'report.json')
    const timesFile = path.join(folder, 'times.json')
    const status = await run('vitest', ['run', ...selection], {
      env: { ...env, TEST_REPORT_FILE: file, ...(isEveryTier ? { TEST_TIMES_FILE: timesFile } : {}) },
      stdio: ['ignore', output, output],
    })
    if (!isAlone) process.stdout.write(fs.readFileSync(log))
    const times = fs.existsSync(timesFile) ? JSON.parse(fs.readFileSync(timesFile, 'utf8')) : []
    return { ...readReport(file, status, selection), times }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Runs each failed file once more, alone, if only a few failed. A file that passes then counts as passed; its first failure
 * is printed all the same, and is a defect of the product or of the test.
 */
async function repeatFailedFiles(results) {
  const failedFiles = results.flatMap((result) =>
    [...result.linesOfFile].map(([file, lines]) => ({ result, file, lines })),
  )
  if (failedFiles.length > max_repeated_files) return
  for (const { result, file, lines } of failedFiles) {
    const again = await runTests([...result.selection, file], true)
    if (again.failed > 0 || again.passed === 0) continue
    result.failureLines = result.failureLines.filter((line) => !lines.includes(line))
    result.failed -= lines.length
    result.passed += lines.length
    repeatedLines.push(...lines)
  }
}

/**
 * A file that cannot be loaded has no tests in the report, and an error outside any test has no place in it: both
 * show in the status of the file or of the run, and count as one failure.
 */
function readReport(file, status, selection) {
  const run = `vitest run ${selection.join(' ')}`
  if (!fs.existsSync(file)) {
    const failureLines = [`${run}: ended with status ${status} and no report`]
    return { selection, passed: 0, failed: 1, skipped: 0, failureLines, linesOfFile: new Map() }
  }
  const report = JSON.parse(fs.readFileSync(file, 'utf8'))
  const linesOfFile = new Map(
    report.testResults.map((result) => [result.name, listFailures(result)]).filter(([, lines]) => lines.length > 0),
  )
  const failureLines = [...linesOfFile.values()].flat()
  if (failureLines.length === 0 && status !== 0)
    failureLines.push(`${run}: ended with status ${status} outside any test; its log above says why`)
  return {
    selection,
    linesOfFile,
    passed: report.numPassedTests,
    failed: failureLines.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failureLines,
  }
}

/** File, title and first line of the error of each failed test, or the error of the file where none of its tests failed. */
function listFailures({ name, status, message, assertionResults }) {
  const file = path.relative(root, name)
  const failedTests = assertionResults.filter((test) => test.status === 'failed')
  if (failedTests.length === 0 && status === 'failed') return [`${file}: ${firstLine(message)}`]
  return failedTests.map((test) => `${file} > ${test.fullName}: ${firstLine(test.failureMessages[0])}`)
}

function firstLine(message) {
  return (
    stripVTControlCharacters(message ?? '')
      .trim()
      .split('\n')[0] || 'no message'
  )
}

/** The status with which the command ended. */
async function run(command, args, options = { env, stdio: ['ignore', 'inherit', 'inherit'] }) {
  const child = spawn(command, args, options)
  return await new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message)
      resolve(1)
    })
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
