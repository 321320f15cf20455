"""The test format of lit.cfg.py, in a module because lit hands it to other processes."""
import os
import shlex

import lit.TestRunner
import lit.formats


class ShTest(lit.formats.ShTest):
    """lit's own, but the places in a RUN line are quoted for a shell: the tree may lie in a folder with a blank."""

    def execute(self, test, litConfig):
        source = test.getSourcePath()
        folder, base = lit.TestRunner.getTempPaths(test)
        places = {"%s": source, "%S": os.path.dirname(source), "%t": base + ".tmp", "%T": folder}
        self.extra_substitutions = [(name, shlex.quote(place)) for name, place in places.items()]
        return super().execute(test, litConfig)
