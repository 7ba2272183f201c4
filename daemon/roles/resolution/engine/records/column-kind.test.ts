// Columns are recognised by their values, and by their names where values alone leave it open.
import { expect, test } from 'vitest'
import { recogniseColumn } from './column-kind.ts'

test.each([
  ['email', ['ann@example.org', 'bo@example.net'], { type: 'email' }],
  ['site', ['www.nordic.example', 'http://harbour.example/shop'], { type: 'code', normalisers: ['url'] }],
  ['contact', ['+44 1234 567890', '(0171) 555-2368', '0171 555 2369'], { type: 'code', normalisers: ['phone'] }],
  ['telephone', ['01715552368', '01715552369'], { type: 'code', normalisers: ['phone'] }],
  ['number', ['6988048', '7364009'], { type: 'code' }],
  ['born', ['1959-08-20', '1972-02-11'], { type: 'date' }],
  ['born', ['1359-08-20', '0990-02-11', '1472-05-30'], { type: 'date' }],
  ['born', ['1859-08-20', '1872-02-11', '1862-21-30'], { type: 'date' }],
  ['started', ['1959-01-01', '1972-01-01'], { type: 'year' }],
  ['worth', ['12.50', '9', '7.25'], { type: 'number' }],
  ['runtime', ['90', '105'], { type: 'number' }],
  ['client', ['Nordic Foods Ltd', 'Harbour GmbH', 'Kestrel'], { type: 'name', normalisers: ['company'] }],
  ['genres', ['Drama', 'Crime, Drama', 'Comedy', 'Comedy, Crime', 'Comedy, Drama'], { type: 'set' }],
  ['starring', ['Khaled, Rawhiyya', 'Arbuckle, Roscoe'], { type: 'name', normalisers: ['sorted_words'] }],
  ['person', ['Ann Green', 'Bo Waller'], { type: 'name' }],
  ['imię', ['Иван Петров', 'Юлия Щербакова'], { type: 'name' }],
  ['氏名', ['山田太郎', '佐藤花子'], { type: 'name' }],
  ['الاسم', ['محمد علي', 'فاطمة الزهراء'], { type: 'name' }],
  ['नाम', ['राम कुमार', 'प्रिया शर्मा'], { type: 'name' }],
  ['ชื่อ', ['สมชาย ใจดี', 'สมหญิง รักไทย'], { type: 'name' }],
  ['이름', ['김철수', '박지성'], { type: 'name' }],
  [
    '題名',
    ['これはある小さな港町についての長い物語である', 'ある秋の日に山の向こうから来た人々の話'],
    { type: 'text' },
  ],
  ['год', ['١٩٧١', '१९७२'], { type: 'year' }],
  ['born', ['١٩٧١-٠٥-٠٤', '１９７２-０２-１１'], { type: 'date' }],
  ['where', ['7 Mill Street', '12 High Road'], { type: 'place' }],
  ['home address', ['7 Mill Street, Ashford', '12 High Road'], { type: 'text' }],
  ['notes', ['the lamp of the harbour is black', 'a kettle that holds two litres'], { type: 'text' }],
  ['size', ['7.6 x 4.8 x 1.4 inches', '5.3 x 3.2 x 1.2 inches'], { type: 'numbers' }],
])('%s: %j', (column, texts, kind) => {
  expect(recogniseColumn(column, texts, texts.length)).toEqual(kind)
})
