// Turns command definitions into commander commands, and selects the ones that the typed words name.

import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { escapingTerminal } from '../terminal/escaping-terminal.ts'
import { keepLayout, line_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { addRemedies } from './add-remedies.ts'
import { arrangeArguments, optionWord } from './arrange-arguments.ts'
import {
  type AnyCommandDefinition,
  type CommandExitCode,
  InvalidParamError,
  type Param,
  type Params,
} from './command.ts'
import { type CommandCatalogue, commandCatalogue } from './command-catalogue.ts'
import { commandGroups } from './command-groups.ts'
import { findMisplacedWord } from './misplaced-words.ts'
import { reportFailure } from './report-failure.ts'

/** Runs the typed command; resolves to the exit code. Loads only the modules that its words need. */
export async function runProgram(typed: readonly string[], output: Terminal): Promise<CommandExitCode> {
  const terminal = escapingTerminal(output)
  const argv = typed.length === 0 ? ['--help'] : (aliases[typed[0] ?? '']?.(typed.slice(1)) ?? typed)
  try {
    const words = argv.slice(
      0,
      findIndexOrEnd(argv, (word) => word.startsWith('-')),
    )
    const elsewhere = words[0] === undefined ? undefined : findMisplacedWord(words[0])
    if (elsewhere !== undefined) {
      terminal.note(elsewhere)
      return 2
    }
    return await runDefinitions(await loadDefinitions(words), argv, terminal)
  } catch (error) {
    // Commander has already printed its message; a request for help is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    return reportFailure(terminal, error)
  }
}

/** Common alternative spellings. */
const aliases: Readonly<Record<string, (remaining: readonly string[]) => string[]>> = {
  help: (remaining) => [...remaining, '--help'],
  '--version': () => ['version'],
  '-V': () => ['version'],
}

/** Runs the one of these commands that the words name. Throws `CommanderError` for a usage error, and what the command throws. */
export async function runDefinitions(
  definitions: readonly AnyCommandDefinition[],
  argv: readonly string[],
  terminal: Terminal,
): Promise<CommandExitCode> {
  let exit: CommandExitCode = 0
  const program = buildProgram(definitions, terminal, (code) => {
    exit = code
  })
  await program.parseAsync(arrangeWords(definitions, argv), { from: 'user' })
  return exit
}

function arrangeWords(definitions: readonly AnyCommandDefinition[], argv: readonly string[]): string[] {
  const [definition, another] = definitions
  const words = definition?.words.split(' ') ?? []
  const isNamed = definition && !another && words.every((word, index) => argv[index] === word)
  return isNamed ? [...words, ...arrangeArguments(definition, argv.slice(words.length))] : [...argv]
}

function buildProgram(
  definitions: readonly AnyCommandDefinition[],
  terminal: Terminal,
  reportExit: (code: CommandExitCode) => void,
): Command {
  const program = applyHelpStyle(new Command('platform'), terminal)
    .description('One executable for air-gapped sites')
    .usage('<command> [options]')
    .addHelpText('after', '\nExample:\n  $ platform init --site ./site --tenant acme --yes')
  for (const definition of definitions) addCommand(program, definition, definitions, terminal, reportExit)
  return program
}

/** Loads the command that the words name; otherwise all candidates: those of the group, or of the top level. */
async function loadDefinitions(typed: readonly string[]): Promise<AnyCommandDefinition[]> {
  const exact = findLongestMatch(typed)
  const words = exact ? [exact] : listCandidates(typed)
  return await Promise.all(
    words.map(async (name) => (await commandCatalogue[name as keyof CommandCatalogue]()).definition),
  )
}

function findLongestMatch(typed: readonly string[]): string | undefined {
  for (let length = Math.min(typed.length, 3); length > 0; length--) {
    const words = typed.slice(0, length).join(' ')
    if (words in commandCatalogue) return words
  }
  return undefined
}

function listCandidates(typed: readonly string[]): string[] {
  const names = Object.keys(commandCatalogue)
  const [group] = typed
  const inGroup = names.filter((words) => group !== undefined && words.startsWith(`${group} `))
  if (inGroup.length > 0) return inGroup
  // One command represents its group on the top level, so that only one module is loaded for each group.
  return names.filter(
    (words, index) =>
      !words.includes(' ') ||
      names.findIndex((candidate) => readFirstWord(candidate) === readFirstWord(words)) === index,
  )
}

const readFirstWord = (words: string) => words.split(' ')[0]

function addCommand(
  program: Command,
  definition: AnyCommandDefinition,
  definitions: readonly AnyCommandDefinition[],
  terminal: Terminal,
  reportExit: (code: CommandExitCode) => void,
): void {
  const words = definition.words.split(' ')
  let parent = program
  for (const [index, word] of words.slice(0, -1).entries()) {
    const path = words.slice(0, index + 1).join(' ')
    const group = parent.commands.find((child) => child.name() === word)
    parent = group ?? addGroup(parent, path, word, definitions, terminal)
  }
  parent.addCommand(buildCommand(definition, terminal, reportExit))
}

const max_group_examples = 3

function addGroup(
  parent: Command,
  path: string,
  word: string,
  definitions: readonly AnyCommandDefinition[],
  terminal: Terminal,
): Command {
  const built = applyHelpStyle(new Command(word), terminal).description(commandGroups[path] ?? '')
  const examples = definitions.filter(({ words }) => words.startsWith(`${path} `)).slice(0, max_group_examples)
  built.addHelpText('after', formatExamples(examples.map(({ example }) => example)))
  parent.addCommand(built)
  return built
}

function formatExamples(examples: readonly string[]): string {
  const lines = examples.flatMap((example) => example.split('\n'))
  return `\nExample${examples.length > 1 ? 's' : ''}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`
}

function buildCommand(
  definition: AnyCommandDefinition,
  terminal: Terminal,
  reportExit: (code: CommandExitCode) => void,
): Command {
  const { words, summary, notes, example } = definition
  const positionals: Params = definition.positionals ?? {}
  const options: Params = definition.options ?? {}
  const built = applyHelpStyle(new Command(words.split(' ').at(-1) ?? words), terminal)
    .summary(summary)
    .allowExcessArguments(false)
  // Commander wraps help to its own width, so line breaks of the source are removed.
  built.description(notes ? `${summary}\n\n${notes.replaceAll(/(?<!\n)\n(?!\n)/g, ' ')}` : summary)
  for (const [name, param] of Object.entries(positionals)) built.addArgument(buildArgument(name, param))
  for (const [name, param] of Object.entries(options)) built.addOption(buildOption(name, param))
  addRemedies(built, options, (text) => terminal.note(keepSuggestion(text)))
  built.addHelpText('after', formatExamples([example]))
  built.action(async (...values: unknown[]) => {
    const positionalValues = Object.keys(positionals).map((name, index) => [
      name,
      values[index] ?? positionals[name]?.defaultValue,
    ])
    const defaults = Object.entries(options).map(([name, param]) => [name, param.defaultValue])
    const text = { ...Object.fromEntries([...positionalValues, ...defaults]), ...built.opts() }
    reportExit(await definition.run(text, terminal))
  })
  return built
}

function applyHelpStyle(built: Command, terminal: Terminal): Command {
  return (
    built
      .configureOutput({
        writeOut: (params) => terminal.print(keepLayout(params.replace(/\n$/, ''))),
        writeErr: (text) => terminal.note(keepLayout(text.replace(/\n$/, ''))),
        outputError: (text) => terminal.note(keepSuggestion(text.replace(/\n$/, ''))),
      })
      .exitOverride()
      // What follows the words of a command is for that command alone, also where it begins with "-h".
      .enablePositionalOptions()
      .helpCommand(false)
      .helpOption('-h, --help', 'Show help for the command')
      .configureHelp({ showGlobalOptions: false, helpWidth: chooseHelpWidth(terminal), minWidthToWrap: 20 })
      .showSuggestionAfterError(true)
      .showHelpAfterError('Add --help for usage; put -- before a value that begins with "-"')
  )
}

const [min_help_width, max_help_width] = [60, 100] as const

/** Lines beyond 100 columns are hard to read. A pager hides the terminal, but a shell may export its width. */
function chooseHelpWidth({ isInteractive, width, env }: Terminal): number {
  const columns = isInteractive ? width : Number.parseInt(env.COLUMNS ?? '', 10) || max_help_width
  return Math.max(min_help_width, Math.min(max_help_width, columns))
}

/** A usage error quotes what was typed, which may hold line ends: only the one before Commander's suggestion is kept. */
function keepSuggestion(text: string): string {
  return text.replace(/\n(?=\(Did you mean .*\?\)$)/, line_break)
}

function buildArgument(name: string, param: Param<unknown>): Argument {
  const placeholder = param.metavar ?? name
  const dots = param.isRest ? '...' : ''
  const built = new Argument(param.isRequired ? `<${placeholder}${dots}>` : `[${placeholder}${dots}]`, param.help)
  if (!param.isRest) built.argParser((text) => parseParam(param, text))
  return built
}

function buildOption(name: string, param: Param<unknown>): Option {
  const long = optionWord(name)
  const dots = param.isRest ? '...' : ''
  const built = new Option(param.metavar === undefined ? long : `${long} <${param.metavar}${dots}>`, param.help)
  if (param.isRequired) built.makeOptionMandatory()
  if (param.metavar !== undefined && !param.isRest) built.argParser((text) => parseParam(param, text))
  return built
}

function parseParam(param: Param<unknown>, text: string): unknown {
  try {
    return param.parse(text)
  } catch (error) {
    if (error instanceof InvalidParamError) throw new InvalidArgumentError(error.message)
    throw error
  }
}

function findIndexOrEnd<T>(list: readonly T[], matches: (item: T) => boolean): number {
  const index = list.findIndex(matches)
  return index < 0 ? list.length : index
}
