import assert from 'node:assert/strict';
import { eventually } from '../support/block.js';
import { buildWeft, weftImage } from '../support/node/images.js';
import { type Node, startNode } from '../support/node/node.js';

describe('a node', function () {
  this.timeout(300_000);
  let node: Node;
  before(async () => {
    node = await startNode();
    node.containerd.load(buildWeft(process.env['WEFT_TEST_FOLDER'] ?? '/tmp'));
  });
  after(() => node?.stop());

  it('runs the image of weft', async () => {
    node.kubectl(
      ...['run', 'config', `--image=${weftImage.repository}:${weftImage.tag}`, '--image-pull-policy=Never'],
      ...['--restart=Never', '--', 'dist/tools/main.js', 'config'],
    );
    await eventually(
      () => /Succeeded|Failed/.test(node.kubectl('get', 'pod', 'config', '-o', 'jsonpath={.status.phase}')),
      'the pod',
      120_000,
    ).catch((error) => {
      throw new Error(`${error}\n${node.kubectl('describe', 'pod', 'config')}\n${node.logs()}`);
    });
    assert.match(node.kubectl('logs', 'config'), /^# Settings/);
  });
});
