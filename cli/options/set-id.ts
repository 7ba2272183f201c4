// The positional that names a set of artifacts of another site.
import { required, text } from '../program/params.ts'

export const setPositional = { id: required(text('ID', 'Set, as listed by `platform guide set list`')) }
