// Bundles src/ into one page and writes it as C source: the part before the data and the part after
// it.
//
// usage: node build.mjs PAGE.c     (node_modules must be beside PAGE.c)
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const page = resolve(process.argv[2]);
const packages = join(dirname(page), 'node_modules');
const source = join(dirname(fileURLToPath(import.meta.url)), 'src');
const esbuild = createRequire(join(dirname(page), 'package.json'))('esbuild');

const common = { bundle: true, minify: true, write: false, charset: 'ascii', nodePaths: [packages], logLevel: 'warning' };
const bundle = async (name, more) =>
  (await esbuild.build({ ...common, ...more, entryPoints: [join(source, name)] })).outputFiles[0].text;

const script = (await bundle('main.js', { format: 'iife', target: 'es2021', legalComments: 'none' })).replaceAll('</script', '<\\/script');
const style = await bundle('page.css', {});
// Only this script may run, regardless of the data.
const hash = createHash('sha256').update(script).digest('base64');
const [head, tail] = readFileSync(join(source, 'page.html'), 'utf8')
  .replace('{{hash}}', () => hash)
  .replace('{{style}}', () => style)
  .replace('{{script}}', () => script)
  .split('{{data}}');

function bytes(name, text) {
  const all = Buffer.from(text, 'utf8');
  const lines = [];
  for (let i = 0; i < all.length; i += 32) lines.push(Array.from(all.subarray(i, i + 32)).join(','));
  return `const unsigned char ${name}[] = {\n${lines.join(',\n')}\n};\nconst size_t ${name}_size = sizeof ${name};\n`;
}

writeFileSync(page, `#include "view/page.h"\n${bytes('cli_page_head', head)}${bytes('cli_page_tail', tail)}const char cli_page_missing[] = "";\n`);
