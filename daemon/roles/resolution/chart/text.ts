// Renders charts as text, for a terminal or a log, with untrusted names each on its line.
import { escapeLine } from '../../../kernel/text/escape-line.ts'
import { formatFigure } from '../../../shared/report/chart/ticks.ts'
import {
  type BarChart,
  type ChartBar,
  computeBarExtent,
  computeBarRange,
  interpolateSeries,
  type LineChart,
} from './chart.ts'

/** Minimum supported width. */
export const min_columns = 40
const min_plot_columns = 10

/** Renders one bar a line, with its name before and its note behind; `|` marks 0. `width`: columns, 40 or more. */
export function renderBarChartText(chart: BarChart, width: number): string {
  const { title, measure } = chart
  const bars = chart.bars.map(escapeBar)
  const [lowest, highest] = computeBarRange(bars)
  const before = Math.min(32, Math.floor(width / 3), findMaxLength(bars.map(({ name }) => name)))
  const behind = Math.max(8, width - before - min_plot_columns - 3)
  const notes = bars.map((bar) => truncateText(bar.note ?? formatFigure(bar.to - (bar.from ?? 0)), behind))
  const room = Math.max(min_plot_columns, width - before - findMaxLength(notes) - 3)
  const column = (value: number) => Math.round(((value - lowest) / (highest - lowest)) * (room - 1))
  const zero = column(0)
  const lines = bars.map((bar, at) => {
    const [from, to] = computeBarExtent(bar)
    const isNegative = bar.to < (bar.from ?? 0)
    const letters = Array.from({ length: room }, (_, position) => {
      if (position >= column(from) && position <= column(to) && to > from) return isNegative ? '-' : '#'
      return position === zero ? '|' : ' '
    })
    return `${truncateText(bar.name, before).padEnd(before)} ${letters.join('')} ${notes[at]}`.trimEnd()
  })
  return [
    wrapText(escapeLine(title), width),
    ...lines,
    `${' '.repeat(before + 1)}${measure}, ${formatFigure(lowest)} to ${formatFigure(highest)}`,
  ].join('\n')
}

/** Renders each series with its own letter, the first unused one of its name; `*` where two meet. */
export function renderLineChartText(
  { title, x, y, series, marks = [] }: LineChart,
  width: number,
  height = 16,
): string {
  const before = Math.max(formatFigure(y.from).length, formatFigure(y.to).length)
  const room = Math.max(16, width - before - 3)
  const grid = Array.from({ length: height }, () => Array.from({ length: room }, () => ' '))
  const columnOf = (at: number) => Math.round(((at - x.from) / (x.to - x.from)) * (room - 1))
  for (const { at } of marks) for (const row of grid) if (row[columnOf(at)] !== undefined) row[columnOf(at)] = ':'
  const names = series.map(({ name }) => escapeLine(name))
  const letters = assignLetters(names)
  for (const [number, line] of series.entries()) {
    for (let column = 0; column < room; column++) {
      const value = interpolateSeries(line, x.from + ((x.to - x.from) * column) / (room - 1))
      if (value === undefined) continue
      const row = grid[Math.round(((y.to - value) / (y.to - y.from)) * (height - 1))]
      if (row) row[column] = /[ :]/.test(row[column] ?? '') ? (letters[number] ?? '*') : '*'
    }
  }
  const scale = (at: number) =>
    (at === 0 ? formatFigure(y.to) : at === height - 1 ? formatFigure(y.from) : '').padStart(before)
  const [from, to] = [formatFigure(x.from), formatFigure(x.to)]
  const foot = `${' '.repeat(before + 3)}${from}${x.label.padStart((room + x.label.length) >> 1).slice(from.length)}`
  return [
    `${escapeLine(title)}: ${names.map((name, at) => `${letters[at]} ${name}`).join(', ')}`,
    ...grid.map((line, at) => `${scale(at)} | ${line.join('')}`.trimEnd()),
    `${' '.repeat(before + 1)}+${'-'.repeat(room + 1)}`,
    foot.padEnd(before + 3 + room - to.length) + to,
    ...marks.map(({ at, label }) => `${' '.repeat(before + 3)}: ${escapeLine(label)} (${formatFigure(at)})`),
  ].join('\n')
}

/** Wraps text at `width` columns, and indents lines after the first; a word longer than a line is broken. */
export function wrapText(text: string, width: number, indent = 0): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.trimEnd().split(/(?<=\s)(?=\S)/)) {
    if (line.trim() !== '' && (line + word.trimEnd()).length > width) {
      lines.push(line.trimEnd())
      line = ' '.repeat(indent)
    }
    line += word
    while (line.trimEnd().length > width) {
      const part = sliceWellFormed(line, width)
      lines.push(part)
      line = ' '.repeat(indent) + line.slice(part.length)
    }
  }
  return [...lines, line.trimEnd()].join('\n')
}

/** Returns the start of a text, without half a surrogate pair at its end. */
function sliceWellFormed(text: string, end: number): string {
  return text.slice(0, end).replace(/[\ud800-\udbff]$/, '')
}

/** A group is part of the name: each line of a text stands for itself. */
function escapeBar({ name, group, note, ...bar }: ChartBar): ChartBar {
  return {
    ...bar,
    name: escapeLine(group === undefined ? name : `${group}: ${name}`),
    ...(note === undefined ? {} : { note: escapeLine(note) }),
  }
}

function assignLetters(names: readonly string[]): string[] {
  const taken = new Set(['*', ':', ' '])
  return names.map((name) => {
    const free = [...name, ...'abcdefghijklmnopqrstuvwxyz'].find((letter) => !taken.has(letter)) ?? '*'
    taken.add(free)
    return free
  })
}

function findMaxLength(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => text.length))
}

function truncateText(text: string, max_length: number): string {
  return text.length <= max_length ? text : `${sliceWellFormed(text, max_length - 3)}...`
}
