// Names with particles have the same forms however the particles are written.
import { expect, test } from 'vitest'
import { latinForm } from './latin-form.ts'
import { normaliseWords } from './normalise.ts'
import { readParticles } from './particles.ts'

const read = (text: string) => readParticles(latinForm(normaliseWords(text)))

test.each([
  ['vanderberg', ['van der Berg', 'Vanderberg', 'Berg, van der', 'Van Der Berg']],
  ['delacruz', ['De La Cruz', 'Delacruz', 'de la Cruz', 'Cruz, de la']],
  ['obrien', ["O'Brien", 'OBrien', 'O’Brien', 'Obrien']],
  ['alhasan', ['al-Hasan', 'Al Hasan', 'AlHasan']],
  ['mcdonald', ['MacDonald', 'McDonald', 'Mc Donald']],
  ['dossantos', ['dos Santos', 'Dossantos', 'Santos, dos']],
])('%s joins %j', (joined, names) => {
  expect(names.map((name) => read(name).joined)).toEqual(names.map(() => joined))
})

test.each([
  ['berg', ['van der Berg', 'Vanderberg', 'Berg, van der', 'Berg']],
  ['cruz', ['De La Cruz', 'Delacruz', 'Cruz']],
  ['hasan', ['al-Hasan', 'Hasan', 'El Hasan']],
  ['brien', ["O'Brien", 'Brien']],
  ['kalid', ['ibn Kalid', 'bin Kalid', 'Kalid']],
])('%s is the core of %j', (core, names) => {
  expect(names.map((name) => read(name).core)).toEqual(names.map(() => core))
})

test.each(['de la', 'Mack', 'Dela', 'Bo', 'Vander', 'la', 'de Wu'])('%s stays a name', (name) => {
  const { joined, core } = read(name)
  expect(core.replaceAll(' ', '')).toBe(joined)
})
